/** Names the record of the run that made one version. */
export interface ReplayRef {
  /** Of the head when it was published: after a reset, numbers begin anew. */
  readonly epoch: number;
  readonly version: number;
  /** When the version was made, ms; a record is old by it. */
  readonly createdAt: number;
}

/**
 * What consolidation runs were given and what the model answered, one record a version (docs/decisions/0019-replay.md). It holds
 * what a user's memory holds, and lies with it: never readable for another user, gone with an erase.
 */
export interface ReplayStore {
  /** Keeps a record, compressed; one of the same name gives way. @throws UnavailableError `replay.write_failed` */
  put(userKey: string, ref: ReplayRef, record: string): Promise<void>;

  /**
   * @returns the text as it was put; undefined where there is none
   * @throws DefectError `replay.unreadable` when what lies there is cut, damaged or larger than any record
   * @throws UnavailableError `replay.read_failed`
   */
  read(userKey: string, ref: ReplayRef): Promise<string | undefined>;

  /** All that are kept of a user, oldest version of the oldest epoch first. @throws UnavailableError `replay.read_failed` */
  list(userKey: string): Promise<readonly ReplayRef[]>;

  /** Removes records for good, whether they are there or not. @throws UnavailableError `replay.write_failed` */
  remove(userKey: string, refs: readonly ReplayRef[]): Promise<void>;
}
