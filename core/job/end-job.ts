import type { NewStageOneHead, StageOneHead } from '../extraction/stage-one-output.ts';
import type { Completion, Failure, Job, JobKey } from './job.ts';
import { isOwned } from './new-job.ts';

/** One stored item: a thread's extraction job and the head of its output, null when it has none (storage.md). */
export interface StageOneRow {
  readonly job: Job;
  readonly head: StageOneHead | null;
}

/**
 * Extends the lease of a running job to `now + leaseMs`, be it over or not (behaviours F-11).
 * @returns undefined when ownership is lost
 */
export function extendLease(
  job: Job | undefined,
  token: string,
  at: { readonly now: number; readonly leaseMs: number },
): Job | undefined {
  return isOwned(job, token) ? { ...job, leaseUntil: at.now + Math.max(0, at.leaseMs) } : undefined;
}

/**
 * The commit of an extraction: job done and output head in one change (behaviours C-01, C-02, C-03, C-06, C-07).
 * @returns undefined when ownership is lost
 */
export function completeExtraction(
  row: StageOneRow | undefined,
  token: string,
  now: number,
  completion: Extract<Completion, { kind: 'extraction' }>,
): StageOneRow | undefined {
  if (row === undefined || !isOwned(row.job, token)) return undefined;
  const job: Job = {
    ...succeed(row.job, now),
    successWatermark: row.job.inputWatermark,
    outcome: completion.outcome,
  };
  return { job, head: completion.output === null ? null : mergeHead(row.head, completion.output) };
}

/**
 * Ends a consolidation well (behaviours F-13, F-16). An enqueue during the run has set the attempts back to 0, since no
 * claim was made at its watermark yet: that input may be missing in this run, so it stays due (DV-9), also when the run
 * reports a higher watermark than the late input has.
 * @returns undefined when ownership is lost
 */
export function completeConsolidation(
  job: Job | undefined,
  token: string,
  now: number,
  completedWatermark: number,
): Job | undefined {
  if (!isOwned(job, token)) return undefined;
  const successWatermark = Math.max(job.successWatermark ?? 0, completedWatermark);
  const lateInput = job.attempts === 0;
  return {
    ...succeed(job, now),
    attempts: 0,
    successWatermark,
    inputWatermark: lateInput ? Math.max(job.inputWatermark ?? 0, successWatermark + 1) : job.inputWatermark,
  };
}

/**
 * Ends a job badly (behaviours B-11). A consolidation whose token is missing can be failed by anyone (F-15), so that it
 * never blocks; its budget stays at 0 or above (F-06).
 * @returns undefined when ownership is lost
 */
export function failJob(kind: JobKey['kind'], job: Job | undefined, token: string, failure: Failure): Job | undefined {
  const orphaned = kind === 'consolidation' && job?.status === 'running' && job.token === null;
  if (!job || !(orphaned || isOwned(job, token))) return undefined;
  return {
    ...job,
    status: 'error',
    finishedAt: failure.now,
    leaseUntil: null,
    retryAt: nextTry(kind, job, failure),
    retryRemaining: spendRetry(kind, job, failure),
    attempts: failure.spendsRetry ? job.attempts : Math.max(0, job.attempts - 1),
    lastError: failure.reason,
    outcome: failure.outcome ?? job.outcome,
  };
}

/** `never` is revived by a newer watermark (F-08); one that a consolidation got during its run is newer already. */
function nextTry(kind: JobKey['kind'], job: Job, failure: Failure): number | null {
  if (failure.retry !== 'never') return failure.now + Math.max(0, failure.retry);
  return kind === 'consolidation' && job.attempts === 0 ? failure.now : null;
}

function spendRetry(kind: JobKey['kind'], job: Job, failure: Failure): number {
  if (failure.retry === 'never') return 0;
  const left = job.retryRemaining - (failure.spendsRetry ? 1 : 0);
  return kind === 'consolidation' ? Math.max(0, left) : left;
}

function succeed(job: Job, now: number): Job {
  return { ...job, status: 'done', finishedAt: now, leaseUntil: null, lastError: null };
}

/** A head is replaced only by the same or a newer snapshot (C-02); use and selection marks survive it (C-03). */
function mergeHead(stored: StageOneHead | null, output: NewStageOneHead): StageOneHead {
  if (stored !== null && output.sourceUpdatedAt < stored.sourceUpdatedAt) return stored;
  return {
    ...output,
    usageCount: stored?.usageCount ?? null,
    lastUsage: stored?.lastUsage ?? null,
    selectedSnapshot: stored?.selectedSnapshot ?? null,
  };
}
