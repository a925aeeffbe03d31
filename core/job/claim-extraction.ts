import { DefectError } from '../errors.ts';
import { LIMITS } from '../settings.ts';
import type { Claim, ClaimRefusal, ClaimRequest, Job } from './job.ts';
import { isHeld, isRepeated, NEW_JOB } from './new-job.ts';

/** What a claim decides. `job` is the state to store; undefined leaves the stored one as it is. */
export interface ClaimDecision {
  readonly claim: Claim;
  readonly job: Job | undefined;
}

/**
 * Claims a thread's extraction at the watermark of its rollout (behaviours 1.B).
 * An advanced watermark bypasses back-off and budget and starts both anew; else a claim counts as one more attempt, and
 * the sixth at one watermark is refused (DV-3): that thread's runs crash, so the job is settled as `failed(exhausted)`.
 * @param stored the job so far; undefined = never claimed
 * @param outputAt `source_updated_at` of the thread's stored output, null when it has none
 * @throws DefectError `job.no_watermark` when the request names none
 */
export function claimExtraction(
  stored: Job | undefined,
  outputAt: number | null,
  request: ClaimRequest,
): ClaimDecision {
  const { watermark, now } = request;
  if (watermark === undefined) throw new DefectError('job.no_watermark', 'an extraction is claimed at a watermark');
  const job = stored ?? NEW_JOB;
  if (watermark <= (outputAt ?? -1) || watermark <= (job.successWatermark ?? -1)) {
    return { ...refuse('up_to_date', null), job: wokenUp(job) };
  }
  const leaseUntil = now + Math.max(0, request.leaseMs);
  const claim: Claim = { kind: 'claimed', token: request.token, inputWatermark: watermark, leaseUntil };
  // The same claim again: its answer was lost on the way, or its run was resumed (user case C22).
  if (isRepeated(job, request)) return { claim, job: { ...job, leaseUntil } };

  const advanced = watermark > (job.inputWatermark ?? -1);
  const refusal = findRefusal(job, advanced, now);
  if (refusal === 'retry_exhausted' && job.status === 'running') {
    return { ...refuse(refusal, null), job: settleExhausted(job, now) };
  }
  if (refusal === 'running') return refuse(refusal, job.leaseUntil);
  if (refusal) return { ...refuse(refusal, job.retryAt), job: wokenUp(job) };

  return {
    claim,
    job: {
      ...job,
      status: 'running',
      token: request.token,
      startedAt: now,
      finishedAt: null,
      leaseUntil,
      retryAt: null,
      retryRemaining: advanced ? LIMITS.retryBudget : job.retryRemaining,
      attempts: advanced ? 1 : job.attempts + 1,
      lastError: null,
      inputWatermark: watermark,
      wakeAt: null,
    },
  };
}

/**
 * When a sweep should look at the thread's extraction: now or earlier means due. A dead run is due at the end of its lease,
 * a failure at its retry unless nothing may revive it, and a thread that only waits (for idleness, for a better day) at its
 * wake time. What an upload brings comes with a message of its own.
 * @returns ms since the epoch; null when there is nothing to do until a newer upload, a redrive or a person's request
 */
export function extractionDueAt(job: Job | undefined): number | null {
  if (job === undefined) return null;
  if (job.status === 'running') return job.leaseUntil ?? 0;
  const mayRetry = job.status === 'error' && job.retryRemaining > 0 && job.attempts < LIMITS.maxAttempts;
  const retryAt = mayRetry ? job.retryAt : null;
  if (retryAt === null || job.wakeAt === null) return retryAt ?? job.wakeAt;
  return Math.min(retryAt, job.wakeAt);
}

/** The thread was looked at: its wake time has done its work. @returns undefined where there was none */
function wokenUp(job: Job): Job | undefined {
  return job.wakeAt === null ? undefined : { ...job, wakeAt: null };
}

/** The order of B-10: exhausted, back-off, running. A live run is never called exhausted for its attempts. */
function findRefusal(job: Job, advanced: boolean, now: number): ClaimRefusal | undefined {
  const held = isHeld(job, now);
  if (held || !advanced) {
    if (job.retryRemaining <= 0) return 'retry_exhausted';
    if ((job.retryAt ?? 0) > now) return 'retry_backoff';
  }
  if (held) return 'running';
  return !advanced && job.attempts >= LIMITS.maxAttempts ? 'retry_exhausted' : undefined;
}

/** A crash loop ends here: otherwise the job would show as running for ever. */
function settleExhausted(job: Job, now: number): Job {
  return {
    ...job,
    status: 'error',
    finishedAt: now,
    leaseUntil: null,
    lastError: 'exhausted',
    outcome: { kind: 'failed', reason: 'exhausted', detail: `${job.attempts} attempts, limit ${LIMITS.maxAttempts}` },
  };
}

function refuse(reason: ClaimRefusal, retryAt: number | null): ClaimDecision {
  return { claim: { kind: 'refused', reason, retryAt }, job: undefined };
}
