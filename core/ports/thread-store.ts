import type { MemoryMode, Thread } from '../thread/thread.ts';

/** What counting threads needs of one. */
export interface ThreadMark {
  readonly threadId: string;
  readonly updatedAt: number;
  readonly uploadedAt: number;
  /** Secrets that were replaced in what was read of it, by kind; empty before it was read. */
  readonly redactions: Readonly<Record<string, number>>;
}

/** The catalogue of a user's threads. */
export interface ThreadStore {
  get(userKey: string, threadId: string): Promise<Thread | undefined>;

  /**
   * Changes one thread atomically: `change` sees the stored thread (undefined: none yet) and answers the one to store, or
   * undefined to leave it. It may be called again when somebody else wrote first, so it must be pure.
   * @returns the thread as stored afterwards, undefined when there is none
   */
  update(
    userKey: string,
    threadId: string,
    change: (stored: Thread | undefined) => Thread | undefined,
  ): Promise<Thread | undefined>;

  /** @returns true only when the mode changed (behaviours Q-03); false also for an unknown thread. */
  setMemoryMode(userKey: string, threadId: string, mode: MemoryMode): Promise<boolean>;

  /** Threads of the user by id ascending (byte order), after `after` if given, at most `limit`. */
  list(userKey: string, page: { readonly after?: string; readonly limit: number }): Promise<readonly Thread[]>;

  /**
   * Marks of all threads of the user that are not forgotten, by id ascending, in one read of a few small fields: a status
   * counts ten thousand of them.
   */
  marks(userKey: string): Promise<readonly ThreadMark[]>;

  /** The named threads; unknown ids are left out. */
  getMany(userKey: string, threadIds: readonly string[]): Promise<ReadonlyMap<string, Thread>>;
}
