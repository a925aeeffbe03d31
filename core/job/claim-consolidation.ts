import { LIMITS } from '../settings.ts';
import type { ClaimDecision } from './claim-extraction.ts';
import type { ClaimRefusal, ClaimRequest, Job } from './job.ts';
import { isHeld, isRepeated, NEW_JOB } from './new-job.ts';

/**
 * Claims the consolidation of a user (behaviours F-01, F-02). Neither the watermark nor a used-up budget decides whether
 * there is work (F-03, F-06). A request of a person (`immediate`) skips the cooldown and a waiting retry, never a live run.
 * @param stored the job so far; undefined = never enqueued
 */
export function claimConsolidation(stored: Job | undefined, request: ClaimRequest): ClaimDecision {
  const { now, token } = request;
  const job = stored ?? { ...NEW_JOB, inputWatermark: 0, successWatermark: 0 };
  if (isRepeated(job, request)) return claimAgain(job, request);
  const refusal = findRefusal(job, request.immediate === true, now);
  if (refusal) {
    const retryAt = { running: job.leaseUntil, cooldown: cooldownEnd(job), retry_unavailable: job.retryAt }[refusal];
    return { claim: { kind: 'refused', reason: refusal, retryAt }, job: undefined };
  }
  const inputWatermark = job.inputWatermark ?? 0;
  const leaseUntil = now + Math.max(0, request.leaseMs);
  return {
    claim: { kind: 'claimed', token, inputWatermark, leaseUntil },
    job: {
      ...job,
      status: 'running',
      token,
      startedAt: now,
      finishedAt: null,
      leaseUntil,
      retryAt: null,
      attempts: job.attempts + 1,
      lastError: null,
      inputWatermark,
    },
  };
}

/**
 * When the sweep (or `stillroom run`) should next try to claim: now or earlier means due. Input that arrived during or
 * after a run stays due when the cooldown ends (DV-9); no state of A6 (pending without a lease, a dead run, a failure
 * whose wait is over) is ever forgotten.
 * @returns ms since the epoch; null when there is nothing to do until somebody enqueues or asks
 */
export function consolidationDueAt(job: Job | undefined): number | null {
  if (job === undefined) return null;
  switch (job.status) {
    case 'running':
      return job.leaseUntil ?? 0;
    case 'error':
      return job.retryAt;
    case 'pending':
      return Math.max(job.retryAt ?? 0, cooldownEnd(job) ?? 0);
    case 'done':
      return (job.inputWatermark ?? 0) > (job.successWatermark ?? 0) ? (cooldownEnd(job) ?? 0) : null;
  }
}

/** The same claim again: its answer was lost on the way, or its run was resumed after a pause (user case C22). */
function claimAgain(job: Job, { token, now, leaseMs }: ClaimRequest): ClaimDecision {
  const leaseUntil = now + Math.max(0, leaseMs);
  const inputWatermark = job.inputWatermark ?? 0;
  return { claim: { kind: 'claimed', token, inputWatermark, leaseUntil }, job: { ...job, leaseUntil } };
}

type Refusal = Extract<ClaimRefusal, 'retry_unavailable' | 'running' | 'cooldown'>;

function findRefusal(job: Job, immediate: boolean, now: number): Refusal | undefined {
  if (!immediate && (job.retryAt ?? 0) > now) return 'retry_unavailable';
  if (isHeld(job, now)) return 'running';
  if (immediate) return undefined;
  // Failed with `retry: 'never'`: an enqueue makes the job pending again, a person's request skips this.
  if (job.status === 'error' && job.retryAt === null) return 'retry_unavailable';
  return (cooldownEnd(job) ?? 0) > now ? 'cooldown' : undefined;
}

/** Only a success starts a cooldown (F-05). */
function cooldownEnd(job: Job): number | null {
  return job.lastError === null && job.finishedAt !== null ? job.finishedAt + LIMITS.consolidationCooldownMs : null;
}
