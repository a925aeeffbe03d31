import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { ReplayRef, ReplayStore } from '../../core/ports/replay-store.ts';
import { packText, unpackText } from '../compression/packed-text.ts';
import { parseReplayKey, REPLAY_TAG, replayKey, replaysPrefix } from './keys.ts';
import { readBody } from './object-body.ts';
import { attempt, isGone, objectFailure } from './object-failure.ts';
import { listKeys, removeObject } from './object-listing.ts';
import { type ObjectPlace, putRequest, readRequest } from './object-requests.ts';

/**
 * Records as objects below the user's prefix in the bucket of the memories: `replays/<epoch>-<version>-<ms>.json.gz`. Each bears
 * the tag by which a lifecycle rule of the bucket knows it.
 */
export class S3ReplayStore implements ReplayStore {
  readonly #client: S3Client;
  readonly #bucket: string;

  constructor(client: S3Client, bucket: string) {
    this.#client = client;
    this.#bucket = bucket;
  }

  async put(userKey: string, ref: ReplayRef, record: string): Promise<void> {
    const more = { contentType: 'application/gzip', tag: REPLAY_TAG };
    const request = putRequest(this.#place(userKey, ref), packText(record), more);
    await attempt('replay.write_failed', () => this.#client.send(new PutObjectCommand(request)));
  }

  async read(userKey: string, ref: ReplayRef): Promise<string | undefined> {
    const request = readRequest(this.#place(userKey, ref));
    const answer = await this.#client.send(new GetObjectCommand(request)).catch((cause: unknown) => {
      if (isGone(cause)) return undefined;
      throw objectFailure('replay.read_failed', cause);
    });
    return answer === undefined ? undefined : unpackText(await readBody(answer, 'replay.read_failed'));
  }

  async list(userKey: string): Promise<readonly ReplayRef[]> {
    const scope = { bucket: this.#bucket, prefix: replaysPrefix(userKey), failureCode: 'replay.read_failed' } as const;
    const keys = await listKeys(this.#client, scope);
    return [...keys].sort().flatMap((key) => parseReplayKey(userKey, key) ?? []);
  }

  /** Every version of them: what a user had forgotten does not stay behind a marker. */
  async remove(userKey: string, refs: readonly ReplayRef[]): Promise<void> {
    for (const ref of refs) await removeObject(this.#client, this.#place(userKey, ref), 'replay.write_failed');
  }

  #place(userKey: string, ref: ReplayRef): ObjectPlace {
    return { bucket: this.#bucket, key: replayKey(userKey, ref) };
  }
}
