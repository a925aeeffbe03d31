import type { SnapshotRef, StageOneBody, StageOneHead } from '../extraction/stage-one-output.ts';

/**
 * Stage-one outputs: heads for ranking, bodies for the texts. A head is written only by `JobStore.complete`, so that the
 * end of a job and its output are one write.
 */
export interface StageOneStore {
  /** Stores the texts of a snapshot before the commit; invisible until a head names it. Repeating it is harmless. */
  putBody(userKey: string, ref: SnapshotRef, body: StageOneBody): Promise<void>;

  /** All heads of a user, thread ids ascending, in one consistent read; never touches bodies. */
  heads(userKey: string): Promise<readonly StageOneHead[]>;

  head(userKey: string, threadId: string): Promise<StageOneHead | undefined>;

  /** Texts of the named snapshots, by thread id; a snapshot whose texts are gone is left out. */
  bodies(userKey: string, refs: readonly SnapshotRef[]): Promise<ReadonlyMap<string, StageOneBody>>;

  /**
   * Adds 1 to the usage count and sets the last use, once per listed id (behaviours P-02).
   * @param useId what the use is known by when its caller repeats it: where the last use of a thread was under this id, within
   *   `LIMITS.receiptMs`, it is not counted again
   * @returns the ids that exist, in the order given, repetitions included; also those that were counted before under the id
   */
  recordUsage(userKey: string, threadIds: readonly string[], now: number, useId?: string): Promise<readonly string[]>;

  /**
   * Clears all selection marks of the user, then marks the pairs whose snapshot is still the current one (behaviours F-13, F-14).
   */
  markSelected(userKey: string, refs: readonly SnapshotRef[]): Promise<void>;

  /**
   * Removes heads and bodies of the named threads where the head is still at the given snapshot and, with `onlyUnselected`,
   * not selected. Job state stays, so that a pruned thread is not extracted again (behaviours D-07).
   * @returns how many were removed
   */
  remove(userKey: string, refs: readonly SnapshotRef[], options: { readonly onlyUnselected: boolean }): Promise<number>;

  /**
   * Deletes bodies that no head names (left by a run that died before its commit, or by a thread that was forgotten).
   * Those of a thread whose job is running stay: their commit may be on its way. @returns how many
   */
  removeOrphanBodies(userKey: string): Promise<number>;
}
