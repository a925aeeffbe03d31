import * as z from 'zod/mini';
import { type Outcome, outcomeName, parseOutcome } from '../../core/extraction/outcome.ts';
import type { StageOneHead } from '../../core/extraction/stage-one-output.ts';
import { consolidationDueAt } from '../../core/job/claim-consolidation.ts';
import { extractionDueAt } from '../../core/job/claim-extraction.ts';
import type { StageOneRow } from '../../core/job/end-job.ts';
import type { Job, JobKey } from '../../core/job/job.ts';
import type { StoredItem, Value } from './dynamo-table.ts';
import { unreadableItem } from './failure.ts';
import { dropNulls, parseItem } from './item-shape.ts';
import { DUE_PARTITION_KEY, DUE_SORT_KEY, duePartition, SORT_KEYS, SORT_PREFIXES } from './table.ts';

/**
 * What a write is told from others by. `revision` rises with every write of job or head; `writeId` is that of the last whole
 * write, so that both together never come again, also when the item was removed and made anew. `formerId` is that of the whole
 * write before it, `touchId` that of the last partial write (use, removal of a head, postponement).
 */
export interface Stamp {
  readonly revision: number;
  readonly writeId: string;
  readonly formerId: string | null;
  readonly touchId: string | null;
}

export interface StoredJob {
  readonly row: StageOneRow;
  readonly stamp: Stamp;
}

const MAYBE_INTEGER = z.optional(z.int());
const MAYBE_TEXT = z.optional(z.string());

const ITEM = z.object({
  sk: z.string(),
  revision: z.int(),
  write_id: z.string(),
  former_id: MAYBE_TEXT,
  touch_id: MAYBE_TEXT,
  status: z.enum(['pending', 'running', 'done', 'error']),
  token: MAYBE_TEXT,
  started_at: MAYBE_INTEGER,
  finished_at: MAYBE_INTEGER,
  lease_until: MAYBE_INTEGER,
  retry_at: MAYBE_INTEGER,
  retry_remaining: z.int(),
  attempts: z.int(),
  last_error: MAYBE_TEXT,
  input_watermark: MAYBE_INTEGER,
  success_watermark: MAYBE_INTEGER,
  outcome: MAYBE_TEXT,
  outcome_detail: MAYBE_TEXT,
  wake_at: MAYBE_INTEGER,
});

const HEAD = z.object({
  source_updated_at: z.int(),
  generated_at: z.int(),
  slug: MAYBE_TEXT,
  usage_count: MAYBE_INTEGER,
  last_usage: MAYBE_INTEGER,
  selected_snapshot: MAYBE_INTEGER,
  bytes: z.int(),
  model: z.string(),
  prompt_version: z.string(),
});

/** The attributes of a head; it is there when the first one is. */
export const HEAD_ATTRIBUTES = [
  'source_updated_at',
  'generated_at',
  'slug',
  'usage_count',
  'last_usage',
  'selected_snapshot',
  'bytes',
  'model',
  'prompt_version',
] as const satisfies readonly (keyof z.infer<typeof HEAD>)[];

/** The sort key of a job: that of the thread's item, or the one of the user. */
export function jobSortKey(key: JobKey): string {
  return key.kind === 'extraction' ? SORT_KEYS.stageOne(key.threadId) : SORT_KEYS.consolidation;
}

/** @returns undefined for the sort key of something else */
export function jobOfSortKey(sortKey: string): JobKey | undefined {
  if (sortKey === SORT_KEYS.consolidation) return { kind: 'consolidation' };
  return sortKey.startsWith(SORT_PREFIXES.stageOne) ? { kind: 'extraction', threadId: threadOf(sortKey) } : undefined;
}

export function threadOf(sortKey: string): string {
  return sortKey.slice(SORT_PREFIXES.stageOne.length);
}

/** The attributes of a job and of its output's head; what is null is left out. */
export function writeRow(row: StageOneRow): Record<string, Value> {
  const { job, head } = row;
  return dropNulls({
    status: job.status,
    token: job.token,
    started_at: job.startedAt,
    finished_at: job.finishedAt,
    lease_until: job.leaseUntil,
    retry_at: job.retryAt,
    retry_remaining: job.retryRemaining,
    attempts: job.attempts,
    last_error: job.lastError,
    input_watermark: job.inputWatermark,
    success_watermark: job.successWatermark,
    outcome: job.outcome && outcomeName(job.outcome),
    outcome_detail: job.outcome?.detail ?? null,
    wake_at: job.wakeAt,
    ...(head && writeHead(head)),
  });
}

/** Where the sparse index finds the job; nothing while there is nothing to do. */
export function writeDue(userKey: string, key: JobKey, job: Job): Record<string, Value> {
  const dueAt = key.kind === 'extraction' ? extractionDueAt(job) : consolidationDueAt(job);
  return dueAt === null ? {} : { [DUE_PARTITION_KEY]: duePartitionOf(userKey, key), [DUE_SORT_KEY]: dueAt };
}

export function duePartitionOf(userKey: string, key: JobKey): string {
  return duePartition(key.kind === 'extraction' ? 'phase1' : 'phase2', userKey);
}

/**
 * Reads a stored job with its output's head.
 * @throws DefectError `table.item_unreadable` naming the attribute
 */
export function readJobItem(stored: StoredItem): StoredJob {
  const item = parseItem('job', ITEM, stored);
  const job: Job = {
    status: item.status,
    token: item.token ?? null,
    startedAt: item.started_at ?? null,
    finishedAt: item.finished_at ?? null,
    leaseUntil: item.lease_until ?? null,
    retryAt: item.retry_at ?? null,
    retryRemaining: item.retry_remaining,
    attempts: item.attempts,
    lastError: item.last_error ?? null,
    inputWatermark: item.input_watermark ?? null,
    successWatermark: item.success_watermark ?? null,
    outcome: readOutcome(item.outcome, item.outcome_detail),
    wakeAt: item.wake_at ?? null,
  };
  const stamp: Stamp = {
    revision: item.revision,
    writeId: item.write_id,
    formerId: item.former_id ?? null,
    touchId: item.touch_id ?? null,
  };
  return { row: { job, head: readHead(item.sk, stored) }, stamp };
}

function writeHead(head: StageOneHead): Record<string, Value> {
  return {
    source_updated_at: head.sourceUpdatedAt,
    generated_at: head.generatedAt,
    slug: head.slug,
    usage_count: head.usageCount,
    last_usage: head.lastUsage,
    selected_snapshot: head.selectedSnapshot,
    bytes: head.bytes,
    model: head.model,
    prompt_version: head.promptVersion,
  };
}

function readHead(sortKey: string, stored: StoredItem): StageOneHead | null {
  if (stored['source_updated_at'] === undefined) return null;
  const item = parseItem('job', HEAD, stored);
  return {
    threadId: threadOf(sortKey),
    sourceUpdatedAt: item.source_updated_at,
    generatedAt: item.generated_at,
    slug: item.slug ?? null,
    usageCount: item.usage_count ?? null,
    lastUsage: item.last_usage ?? null,
    selectedSnapshot: item.selected_snapshot ?? null,
    bytes: item.bytes,
    model: item.model,
    promptVersion: item.prompt_version,
  };
}

function readOutcome(name: string | undefined, detail: string | undefined): Outcome | null {
  if (name === undefined) return null;
  const outcome = parseOutcome(name, detail ?? null);
  if (outcome === undefined) throw unreadableItem('job', 'outcome');
  return outcome;
}
