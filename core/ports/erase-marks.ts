/**
 * One mark a user, left by an erase that came while runs were under way: until when these may still write. It outlives the
 * erase itself, so that an erase that dies half-way is remembered too: `UserTraces` count it and do not remove it.
 */
export interface EraseMarks {
  /** @returns ms since the epoch; null where there is none. One whose time is over may be told, or not. */
  read(userKey: string): Promise<number | null>;

  /** Sets the mark, whatever stood there. */
  write(userKey: string, until: number): Promise<void>;

  /** Removes it; harmless where there is none. */
  remove(userKey: string): Promise<void>;
}
