import type { JobKey } from '../job/job.ts';

/** Something that a sweep should start. */
export interface DueJob {
  readonly userKey: string;
  readonly key: JobKey;
  /** ms since the epoch. */
  readonly dueAt: number;
}

export interface DuePage {
  readonly jobs: readonly DueJob[];
  /** Entries of the page that name no job of ours: passed over, since one of them must not hold up all the others. */
  readonly unreadable: number;
  /** Opaque; null = that was all. Passed on, the next page begins after the last job of this one. */
  readonly next: string | null;
}

export interface DueQuery {
  readonly kind: JobKey['kind'];
  /** 0 up to `shards` - 1. */
  readonly shard: number;
  /** Jobs due at this time or earlier, ms since the epoch. */
  readonly now: number;
  readonly limit: number;
  readonly after: string | null;
}

/**
 * Finds jobs of all users whose time has come (`extractionDueAt`, `consolidationDueAt`), oldest first within a shard, without
 * looking at jobs that have nothing to do. May lag behind the job store by seconds; a claim decides.
 */
export interface DueIndex {
  /** Users are spread over this many shards. */
  readonly shards: number;
  /** @throws UnavailableError when the shard cannot be asked */
  due(query: DueQuery): Promise<DuePage>;

  /**
   * Keeps the job out of the index until a later time: it was handed on, and must not be handed on again by every pass while
   * it waits its turn. Its next claim or end sets the time anew.
   * @returns false when its due time is no longer that of `job`: somebody has it already
   */
  postpone(job: DueJob, until: number): Promise<boolean>;
}
