import { DeleteObjectCommand, GetObjectCommand, HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { NotFoundError } from '../../core/errors.ts';
import { requireThreadId } from '../../core/ids.ts';
import type { RolloutStore } from '../../core/ports/rollout-store.ts';
import { LIMITS } from '../../core/settings.ts';
import { NO_HINTS, type StoredRollout, type UploadedRollout, type UploadHints } from '../../core/thread/thread.ts';
import { decompress } from '../compression/decompress.ts';
import { rolloutKey } from './keys.ts';
import { bodyChunks, bodyOf } from './object-body.ts';
import { isGone, objectFailure } from './object-failure.ts';
import { removeObject } from './object-listing.ts';
import { lookRequest, type ObjectPlace, readRequest } from './object-requests.ts';
import { putStream } from './put-stream.ts';
import { contentName, toHints, toMetadata } from './upload-metadata.ts';

export interface S3RolloutStoreOptions {
  /** Largest plain size of a rollout, bytes; default 4 GiB. */
  readonly limitBytes?: number;
  /**
   * What `remove` does: every version goes for good (default), or the object is hidden and its versions go a day later by the
   * bucket's lifecycle rule. For a function that may not list the bucket.
   */
  readonly removal?: 'versions' | 'hide';
}

/** Rollouts as objects `rollouts/<user_key>/<thread_id>.jsonl`; what the uploader said lies in the object's metadata. */
export class S3RolloutStore implements RolloutStore {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #limitBytes: number;
  readonly #removal: 'versions' | 'hide';

  constructor(client: S3Client, bucket: string, options: S3RolloutStoreOptions = {}) {
    this.#client = client;
    this.#bucket = bucket;
    this.#limitBytes = options.limitBytes ?? LIMITS.rolloutBytes;
    this.#removal = options.removal ?? 'versions';
  }

  async put(
    userKey: string,
    threadId: string,
    content: AsyncIterable<Uint8Array>,
    path: string,
    now: number,
    hints: UploadHints = NO_HINTS,
  ): Promise<StoredRollout> {
    const metadata = (sha256: string | null) => toMetadata({ threadId, hints, sha256 });
    const { sha256, bytes } = await putStream(this.#client, this.#place(userKey, threadId), content, metadata);
    return { sha256, bytes, uploadedAt: now, path, order: null };
  }

  async open(userKey: string, threadId: string): Promise<AsyncIterable<Uint8Array>> {
    const request = readRequest(this.#place(userKey, threadId));
    const answer = await this.#client.send(new GetObjectCommand(request)).catch((cause: unknown) => {
      if (isGone(cause)) throw new NotFoundError('rollout.not_found', 'there is no rollout of this thread');
      throw objectFailure('rollout.read_failed', cause);
    });
    return decompress(bodyChunks(bodyOf(answer), 'rollout.read_failed'), this.#limitBytes);
  }

  /** One HEAD: nothing of the rollout is transferred. */
  async look(userKey: string, threadId: string): Promise<UploadedRollout | undefined> {
    const place = this.#place(userKey, threadId);
    try {
      const head = await this.#client.send(new HeadObjectCommand(lookRequest(place)));
      const rollout = {
        sha256: contentName(head),
        bytes: head.ContentLength ?? 0,
        uploadedAt: head.LastModified?.getTime() ?? 0,
        path: place.key,
        order: null,
      };
      return { rollout, hints: toHints(head.Metadata) };
    } catch (cause) {
      if (isGone(cause)) return undefined;
      throw objectFailure('rollout.read_failed', cause);
    }
  }

  /**
   * The object and every older version of it: nothing of a removed rollout stays. One that is only hidden is answered as
   * removed, whether it was there or not: finding out would need a listing.
   */
  async remove(userKey: string, threadId: string): Promise<boolean> {
    const place = this.#place(userKey, threadId);
    if (this.#removal === 'versions') return removeObject(this.#client, place, 'rollout.write_failed');
    await this.#client
      .send(new DeleteObjectCommand({ Bucket: place.bucket, Key: place.key }))
      .catch((cause: unknown) => {
        throw objectFailure('rollout.write_failed', cause);
      });
    return true;
  }

  #place(userKey: string, threadId: string): ObjectPlace {
    return { bucket: this.#bucket, key: rolloutKey(userKey, requireThreadId(threadId)) };
  }
}
