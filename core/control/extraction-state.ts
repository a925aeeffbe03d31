import type { Job } from '../job/job.ts';
import type { ThreadMark } from '../ports/thread-store.ts';
import { LIMITS } from '../settings.ts';

/**
 * Where a thread stands with its extraction:
 * `queued` waits and will be tried without anybody acting, `running` holds a live lease, `deferred` waits for a budget or a
 * rate limit, `failed` ended badly and waits for a redrive or a newer rollout, `settled` needs nothing.
 */
export type ExtractionState = 'queued' | 'running' | 'deferred' | 'failed' | 'settled';

/**
 * Tells the state from the thread and its job. A failure that will be retried is queued, not failed, so that waiting and dead
 * are counted apart (user case B9); a dead run whose lease has ended is queued until its attempts are used up (DV-3).
 * @param job undefined: the thread was never looked at
 */
export function extractionState(
  thread: Pick<ThreadMark, 'updatedAt'>,
  job: Job | undefined,
  now: number,
): ExtractionState {
  if (job === undefined) return 'queued';
  if (job.status === 'running') return runningState(job, now);
  if (job.outcome?.kind === 'deferred') return 'deferred';
  if (job.status === 'error') return willRetry(job) ? 'queued' : 'failed';
  if (job.outcome?.kind === 'failed') return isRedriven(job) ? 'queued' : 'failed';
  if (job.outcome?.kind === 'skipped') return 'settled';
  if (job.status === 'pending') return 'queued';
  return thread.updatedAt > (job.successWatermark ?? -1) ? 'queued' : 'settled';
}

function runningState(job: Job, now: number): ExtractionState {
  if (job.leaseUntil !== null && job.leaseUntil > now) return 'running';
  return job.attempts >= LIMITS.maxAttempts ? 'failed' : 'queued';
}

function willRetry(job: Job): boolean {
  return job.retryAt !== null && job.retryRemaining > 0 && job.attempts < LIMITS.maxAttempts;
}

/** A redrive leaves the old outcome in sight; what failed without ever being claimed has no watermark. */
function isRedriven(job: Job): boolean {
  return job.status === 'pending' && job.inputWatermark !== null;
}
