import type { SnapshotRef } from '../../core/extraction/stage-one-output.ts';

/** Where packed texts lie that are too large for a table item (storage.md, `bodies/`). */
export interface BodyShelf {
  /** Repeating it overwrites. */
  put(userKey: string, ref: SnapshotRef, bytes: Uint8Array): Promise<void>;

  /** @returns undefined when nothing lies there */
  get(userKey: string, ref: SnapshotRef): Promise<Uint8Array | undefined>;

  /** Removes it, whether it is there or not. */
  remove(userKey: string, ref: SnapshotRef): Promise<void>;

  /** All that lie there of a user, in no order. */
  list(userKey: string): Promise<readonly SnapshotRef[]>;
}
