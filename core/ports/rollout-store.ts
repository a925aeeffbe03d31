import type { StoredRollout, UploadedRollout, UploadHints } from '../thread/thread.ts';

/** Raw rollouts as uploaded, one a thread; a later upload replaces the former. */
export interface RolloutStore {
  /**
   * Stores a rollout; readers see the old or the new one, never a part. The bytes are kept as they are.
   * @param path what the uploader calls the file; kept in the answer
   * @param hints what the uploader says of it: `look` tells it again where the store has a place for it (a folder has none)
   * @throws UnavailableError `rollout.write_failed` (disk full, no permission); nothing is changed then
   */
  put(
    userKey: string,
    threadId: string,
    content: AsyncIterable<Uint8Array>,
    path: string,
    now: number,
    hints?: UploadHints,
  ): Promise<StoredRollout>;

  /**
   * The content, decompressed (plain, gzip or zstd, told by magic bytes, never by name), in chunks of any size.
   * @throws NotFoundError `rollout.not_found`; while reading: InvalidInputError `rollout.truncated` (a cut archive),
   *   `rollout.too_large` (expands over the limit)
   */
  open(userKey: string, threadId: string): Promise<AsyncIterable<Uint8Array>>;

  /**
   * What lies in the store for a thread, with what its uploader said of it, without reading the rollout into memory.
   * `rollout.sha256` is the checksum that the store keeps, else a name of the content that changes with it.
   * @returns undefined when there is none
   */
  look(userKey: string, threadId: string): Promise<UploadedRollout | undefined>;

  /** Removes it. @returns false when there was none. */
  remove(userKey: string, threadId: string): Promise<boolean>;
}
