import type { SQLInputValue } from 'node:sqlite';
import { DefectError } from '../../core/errors.ts';
import { type Outcome, outcomeName, parseOutcome } from '../../core/extraction/outcome.ts';
import type { StageOneHead } from '../../core/extraction/stage-one-output.ts';
import type { StageOneRow } from '../../core/job/end-job.ts';
import type { Job } from '../../core/job/job.ts';
import type { Row } from './row.ts';

const STATUSES = ['pending', 'running', 'done', 'error'] as const;

/** Columns of a job, in the order of `jobValues`; those of both kinds of job are the same. */
export const JOB_COLUMNS =
  'status, token, started_at, finished_at, lease_until, retry_at, retry_remaining, attempts, last_error, input_watermark, success_watermark, outcome, outcome_detail, wake_at, due_at';

/** Columns of a head, in the order of `headValues`. */
export const HEAD_COLUMNS =
  'source_updated_at, generated_at, slug, usage_count, last_usage, selected_snapshot, bytes, model, prompt_version';

/** @param dueAt when a sweep should look at the job; kept next to it for the index of due jobs */
export function jobValues(job: Job, dueAt: number | null): SQLInputValue[] {
  return [
    job.status,
    job.token,
    job.startedAt,
    job.finishedAt,
    job.leaseUntil,
    job.retryAt,
    job.retryRemaining,
    job.attempts,
    job.lastError,
    job.inputWatermark,
    job.successWatermark,
    job.outcome && outcomeName(job.outcome),
    job.outcome?.detail ?? null,
    job.wakeAt,
    dueAt,
  ];
}

export function headValues(head: StageOneHead | null): SQLInputValue[] {
  if (head === null) return Array.from({ length: 9 }, () => null);
  return [
    head.sourceUpdatedAt,
    head.generatedAt,
    head.slug,
    head.usageCount,
    head.lastUsage,
    head.selectedSnapshot,
    head.bytes,
    head.model,
    head.promptVersion,
  ];
}

export function readJob(row: Row): Job {
  return {
    status: row.oneOf('status', STATUSES),
    token: row.textOrNull('token'),
    startedAt: row.integerOrNull('started_at'),
    finishedAt: row.integerOrNull('finished_at'),
    leaseUntil: row.integerOrNull('lease_until'),
    retryAt: row.integerOrNull('retry_at'),
    retryRemaining: row.integer('retry_remaining'),
    attempts: row.integer('attempts'),
    lastError: row.textOrNull('last_error'),
    inputWatermark: row.integerOrNull('input_watermark'),
    successWatermark: row.integerOrNull('success_watermark'),
    outcome: readOutcome(row),
    wakeAt: row.integerOrNull('wake_at'),
  };
}

/** Needs the column `thread_id` besides those of the head. */
export function readHead(row: Row): StageOneHead {
  return {
    threadId: row.text('thread_id'),
    sourceUpdatedAt: row.integer('source_updated_at'),
    generatedAt: row.integer('generated_at'),
    slug: row.textOrNull('slug'),
    usageCount: row.integerOrNull('usage_count'),
    lastUsage: row.integerOrNull('last_usage'),
    selectedSnapshot: row.integerOrNull('selected_snapshot'),
    bytes: row.integer('bytes'),
    model: row.text('model'),
    promptVersion: row.text('prompt_version'),
  };
}

export function readStageOneRow(row: Row): StageOneRow {
  return { job: readJob(row), head: row.integerOrNull('source_updated_at') === null ? null : readHead(row) };
}

function readOutcome(row: Row): Outcome | null {
  const name = row.textOrNull('outcome');
  if (name === null) return null;
  const outcome = parseOutcome(name, row.textOrNull('outcome_detail'));
  if (outcome !== undefined) return outcome;
  throw new DefectError('home.row_unreadable', 'the database holds an outcome that is not on the list');
}
