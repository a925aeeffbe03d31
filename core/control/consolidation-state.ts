import type { StageOneHead } from '../extraction/stage-one-output.ts';
import type { Job } from '../job/job.ts';
import { LIMITS } from '../settings.ts';

/** As `GET /v1/status` shows it; times in ms. */
export interface ConsolidationState {
  /** `none` before the first input. A run whose lease has ended is `pending`: the next claim takes it over. */
  readonly status: 'none' | 'pending' | 'running' | 'done' | 'error';
  readonly lastSuccessAt: number | null;
  /** Content-free code of the last run, null when it ended well. */
  readonly lastError: string | null;
  /** When the next run may start; null when nothing waits, or while one runs. */
  readonly nextAt: number | null;
  /** Input waits although a run could have started more than `staleConsolidationMs` ago (user case A6). */
  readonly stale: boolean;
}

/** True when there is input that no successful run has taken in (DV-9). */
export function isConsolidationDue(job: Job | undefined): boolean {
  return job !== undefined && (job.inputWatermark ?? 0) > (job.successWatermark ?? 0);
}

/**
 * Tells the state of a user's consolidation.
 * @param facts.newestMadeAt when the newest version made by a consolidation was made; a claim clears the job's own memory of
 *   its last success
 * @param facts.outputs heads of stage-one outputs; only those newer than the last success count
 */
export function consolidationState(
  job: Job | undefined,
  facts: { readonly newestMadeAt: number | null; readonly outputs: readonly StageOneHead[]; readonly now: number },
): ConsolidationState {
  const { now } = facts;
  const running = job?.status === 'running' && (job.leaseUntil ?? 0) > now;
  const lastSuccessAt = latest(job?.status === 'done' ? job.finishedAt : null, facts.newestMadeAt);
  const due = isConsolidationDue(job) && !running;
  const possibleSince = latest(waitEnd(job), oldestNewOutput(facts.outputs, lastSuccessAt));
  return {
    status: job === undefined ? 'none' : job.status === 'running' && !running ? 'pending' : job.status,
    lastSuccessAt,
    lastError: job?.lastError ?? null,
    nextAt: due || (job?.status === 'error' && !running) ? Math.max(now, waitEnd(job) ?? 0) : null,
    stale: due && possibleSince !== null && now - possibleSince > LIMITS.staleConsolidationMs,
  };
}

/** End of what holds the next run back: a dead run's lease, a retry delay, the cooldown after a success (behaviours F-02). */
function waitEnd(job: Job | undefined): number | null {
  if (job === undefined) return null;
  const cooled =
    job.lastError === null && job.finishedAt !== null ? job.finishedAt + LIMITS.consolidationCooldownMs : null;
  return latest(latest(job.leaseUntil, job.retryAt), cooled);
}

function oldestNewOutput(outputs: readonly StageOneHead[], since: number | null): number | null {
  let oldest: number | null = null;
  for (const { generatedAt } of outputs)
    if (generatedAt > (since ?? -1) && (oldest === null || generatedAt < oldest)) oldest = generatedAt;
  return oldest;
}

function latest(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return left ?? right;
  return Math.max(left, right);
}
