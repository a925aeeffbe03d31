/** Counts of what is kept of a user. */
export interface TraceCounts {
  /** Names: files, objects, or keys that have at least one version. */
  readonly objects: number;
  /** Stored contents, old ones and delete markers included. */
  readonly versions: number;
  /** Rows or table items. */
  readonly items: number;
}

export const NO_TRACES: TraceCounts = { objects: 0, versions: 0, items: 0 };

/** Everything that one technology keeps of a user, to be counted and erased (storage.md, "Erase"). */
export interface UserTraces {
  /** Counted at the store itself, at this moment, and never of another user: `user1` does not count `user10`. */
  count(userKey: string): Promise<TraceCounts>;

  /** Removes all of it but an `EraseMarks` mark, for good: every version and every delete marker. Repeating it finishes what a first call left. @returns what was removed */
  erase(userKey: string): Promise<TraceCounts>;
}
