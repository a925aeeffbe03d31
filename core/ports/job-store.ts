import type { Outcome } from '../extraction/outcome.ts';
import type { StageOneHead } from '../extraction/stage-one-output.ts';
import type { Claim, ClaimRequest, Completion, Failure, Job, JobKey } from '../job/job.ts';

/**
 * Jobs with leases and ownership tokens. Each method is one atomic change; the rules are the pure transitions of `core/job/`,
 * which every adapter applies. After a claim every write carries its token: with another token, or when the job is not
 * running, nothing is written and the answer is false.
 */
export interface JobStore {
  get(userKey: string, key: JobKey): Promise<Job | undefined>;

  /** Extraction jobs of the user by thread id ascending. */
  listExtractions(userKey: string): Promise<ReadonlyMap<string, Job>>;

  /** Claims a job, creating it if need be. Of concurrent claims of one job exactly one wins. */
  claim(userKey: string, key: JobKey, request: ClaimRequest): Promise<Claim>;

  /** Extends the lease to `now + leaseMs` (behaviours F-11). @returns false when ownership is lost */
  heartbeat(
    userKey: string,
    key: JobKey,
    token: string,
    at: { readonly now: number; readonly leaseMs: number },
  ): Promise<boolean>;

  /**
   * Ends a job well. For an extraction with output this is the commit: job done and output head written in one change;
   * an existing head is replaced only by one of the same or a newer snapshot (behaviours C-02); `output: null` removes the
   * head (C-07). @returns false when ownership is lost
   */
  complete(userKey: string, token: string, now: number, completion: Completion): Promise<boolean>;

  /** Ends a job badly (behaviours B-11, F-15). @returns false when ownership is lost */
  fail(userKey: string, key: JobKey, token: string, failure: Failure): Promise<boolean>;

  /** Marks the consolidation due with a monotonic watermark (behaviours F-08). */
  enqueueConsolidation(userKey: string, watermark: number): Promise<void>;

  /**
   * Records an end that needed no claim (skipped, deferred), and when to look again: `wakeAt` (ms since the epoch), or only
   * when something new comes (absent). Not while the job is running.
   */
  recordOutcome(userKey: string, threadId: string, outcome: Outcome, wakeAt?: number): Promise<void>;

  /**
   * Sets when a thread should be looked at without a new upload, making its job if need be; the earlier time wins, null takes
   * the wake away. A claim that is not refused as running uses it up.
   */
  wake(userKey: string, threadId: string, at: number | null): Promise<void>;

  /** Makes failed and exhausted extractions claimable again (DV-3). @returns the thread ids revived */
  redrive(userKey: string): Promise<readonly string[]>;

  /**
   * Removes a thread's extraction job and with it the head of its output, in one change, whoever runs it: its run then loses
   * ownership (behaviours D-01, DV-18).
   * @returns the head that was removed; undefined when the thread had no output
   */
  removeExtraction(userKey: string, threadId: string): Promise<StageOneHead | undefined>;

  /** Removes all jobs of the user, both kinds, and with them all heads of outputs, in one change (behaviours D-02, D-03). */
  clear(userKey: string): Promise<void>;
}
