import type { Outcome } from '../extraction/outcome.ts';
import type { NewStageOneHead } from '../extraction/stage-one-output.ts';

/** One job a thread (extraction), one job a user (consolidation). */
export type JobKey = { readonly kind: 'extraction'; readonly threadId: string } | { readonly kind: 'consolidation' };

export type JobStatus = 'pending' | 'running' | 'done' | 'error';

/**
 * The state of a job (behaviours 0.4, with our attempts counter of DV-3). Times in ms; null = not set.
 * Transitions are the pure functions of `job/`; stores only apply them atomically.
 */
export interface Job {
  readonly status: JobStatus;
  readonly token: string | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly leaseUntil: number | null;
  readonly retryAt: number | null;
  readonly retryRemaining: number;
  /** Claims at the present input watermark (DV-3). */
  readonly attempts: number;
  /** A content-free reason: an outcome name or an error code. */
  readonly lastError: string | null;
  readonly inputWatermark: number | null;
  readonly successWatermark: number | null;
  /** Extraction only: how the thread's last pass ended; null before the first. */
  readonly outcome: Outcome | null;
  /** Extraction only: when to look at the thread again without a new upload, such as the end of its idle wait. */
  readonly wakeAt: number | null;
}

export interface ClaimRequest {
  /** Fresh and unguessable, from TokenSource: the ownership token if the claim is won. */
  readonly token: string;
  readonly now: number;
  /** Negative counts as 0. */
  readonly leaseMs: number;
  /** Extraction: the source watermark to claim at. Consolidation: not used. */
  readonly watermark?: number;
  /** Consolidation: true when a person asked for it now, which skips the cooldown (DV-9) and a waiting retry. */
  readonly immediate?: boolean;
}

export type ClaimRefusal =
  | 'up_to_date'
  | 'running'
  | 'retry_backoff'
  | 'retry_exhausted'
  | 'retry_unavailable'
  | 'cooldown';

export type Claim =
  | { readonly kind: 'claimed'; readonly token: string; readonly inputWatermark: number; readonly leaseUntil: number }
  | { readonly kind: 'refused'; readonly reason: ClaimRefusal; readonly retryAt: number | null };

/** How a claimed job ended well. */
export type Completion =
  | {
      readonly kind: 'extraction';
      readonly threadId: string;
      readonly outcome: Outcome;
      readonly output: NewStageOneHead | null;
    }
  | { readonly kind: 'consolidation'; readonly completedWatermark: number };

/** How a claimed job ended badly. */
export interface Failure {
  readonly now: number;
  /** Content-free. */
  readonly reason: string;
  readonly outcome: Outcome | null;
  /** Wait before the next claim, ms (negative = 0); `never`: only a newer watermark or a redrive revives it. */
  readonly retry: number | 'never';
  /** False for an end that is nobody's fault (budget, rate limit): costs neither a retry nor an attempt. */
  readonly spendsRetry: boolean;
}
