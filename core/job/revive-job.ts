import type { Outcome } from '../extraction/outcome.ts';
import { LIMITS } from '../settings.ts';
import type { Job } from './job.ts';
import { NEW_JOB } from './new-job.ts';

/**
 * Marks the consolidation due (behaviours F-08, F-09). The watermark always rises: to the given one, else by 1. A running
 * job goes on running; attempts at the new watermark start at 0 (see `completeConsolidation`).
 * @param watermark ms since the epoch: the source time of the new output, or now for a removal
 */
export function enqueueConsolidation(stored: Job | undefined, watermark: number): Job {
  if (stored === undefined) return { ...NEW_JOB, inputWatermark: watermark, successWatermark: 0 };
  const known = stored.inputWatermark ?? 0;
  const running = stored.status === 'running';
  return {
    ...stored,
    status: running ? 'running' : 'pending',
    retryAt: running ? stored.retryAt : null,
    retryRemaining: Math.max(stored.retryRemaining, LIMITS.retryBudget),
    attempts: 0,
    inputWatermark: watermark > known ? watermark : known + 1,
  };
}

/**
 * Makes a failed extraction claimable again at its watermark (DV-3): the full budget, no wait. A crash loop that nobody
 * has settled yet gets new attempts and keeps its lease. What was deferred, or ended well, is left alone.
 * @returns undefined when there is nothing to revive; so a second call changes nothing
 */
export function redriveExtraction(job: Job): Job | undefined {
  if (job.status === 'running' && job.attempts >= LIMITS.maxAttempts) return { ...job, attempts: 0 };
  if (job.status !== 'error' || job.outcome?.kind === 'deferred') return undefined;
  return { ...job, status: 'pending', retryAt: null, retryRemaining: LIMITS.retryBudget, attempts: 0, wakeAt: 0 };
}

/**
 * Records an end that needed no claim (skipped, deferred); not while the job runs. It says when to look again, so a retry that
 * was waiting is off.
 * @param wakeAt ms since the epoch; null = only when something new comes
 * @returns undefined when nothing changes
 */
export function recordOutcome(stored: Job | undefined, outcome: Outcome, wakeAt: number | null): Job | undefined {
  if (stored?.status === 'running') return undefined;
  return { ...(stored ?? NEW_JOB), retryAt: null, outcome, wakeAt };
}

/**
 * Sets when a thread should be looked at without a new upload; the earlier time wins. A wake during a run outlives the run.
 * @param at ms since the epoch; null takes the wake away
 * @returns undefined when nothing changes
 */
export function wakeExtraction(stored: Job | undefined, at: number | null): Job | undefined {
  const known = stored?.wakeAt ?? null;
  const wakeAt = at === null || known === null ? at : Math.min(at, known);
  if (wakeAt === known) return undefined;
  return { ...(stored ?? NEW_JOB), wakeAt };
}
