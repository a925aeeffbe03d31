import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { SnapshotRef } from '../../core/extraction/stage-one-output.ts';
import { requireThreadId } from '../../core/ids.ts';
import { bodiesPrefix, bodyKey, parseBodyKey } from './keys.ts';
import { readBody } from './object-body.ts';
import { attempt, isGone, objectFailure } from './object-failure.ts';
import { listKeys, removeObject } from './object-listing.ts';
import { type ObjectPlace, putRequest, readRequest } from './object-requests.ts';

const CONTENT_TYPE = 'application/zstd';

/**
 * Packed texts of stage-one outputs that are too large for a table item: `bodies/<thread_id>/<source_updated_at>.json.zst`
 * (storage.md). What the table's adapter needs of a shelf.
 */
export class S3BodyShelf {
  readonly #client: S3Client;
  readonly #bucket: string;

  constructor(client: S3Client, bucket: string) {
    this.#client = client;
    this.#bucket = bucket;
  }

  /** Repeating it overwrites. @throws UnavailableError `memory.write_failed` */
  async put(userKey: string, ref: SnapshotRef, bytes: Uint8Array): Promise<void> {
    const request = putRequest(this.#place(userKey, ref), bytes, { contentType: CONTENT_TYPE });
    await attempt('memory.write_failed', () => this.#client.send(new PutObjectCommand(request)));
  }

  /** @returns undefined when nothing lies there. @throws UnavailableError `memory.read_failed` */
  async get(userKey: string, ref: SnapshotRef): Promise<Uint8Array | undefined> {
    const request = readRequest(this.#place(userKey, ref));
    const answer = await this.#client.send(new GetObjectCommand(request)).catch((cause: unknown) => {
      if (isGone(cause)) return undefined;
      throw objectFailure('memory.read_failed', cause);
    });
    return answer === undefined ? undefined : readBody(answer, 'memory.read_failed');
  }

  /** Removes every version of it, whether it is there or not: what a user had forgotten does not stay behind a marker. */
  async remove(userKey: string, ref: SnapshotRef): Promise<void> {
    await removeObject(this.#client, this.#place(userKey, ref), 'memory.write_failed');
  }

  /** All that lie there of a user, in no order. */
  async list(userKey: string): Promise<readonly SnapshotRef[]> {
    const scope = { bucket: this.#bucket, prefix: bodiesPrefix(userKey), failureCode: 'memory.read_failed' } as const;
    return (await listKeys(this.#client, scope)).flatMap((key) => parseBodyKey(userKey, key) ?? []);
  }

  #place(userKey: string, { threadId, sourceUpdatedAt }: SnapshotRef): ObjectPlace {
    return { bucket: this.#bucket, key: bodyKey(userKey, requireThreadId(threadId), sourceUpdatedAt) };
  }
}
