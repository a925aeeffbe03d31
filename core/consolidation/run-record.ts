import * as z from 'zod';
import { tokenUsageShape } from '../agent/ask-model.ts';
import { DefectError } from '../errors.ts';
import type { ReplayRef } from '../ports/replay-store.ts';
import { TEMPLATE_NAMES } from '../ports/template-store.ts';

const number = z.int().min(0);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const threadIds = z.array(z.string().min(1));

/**
 * What a run was given and what it was answered. Inputs stand by version and hash: their texts lie in the versions that the run
 * started from and in the one that it made, which outlive the record.
 */
const recordShape = z.strictObject({
  format: z.literal(1),
  epoch: number,
  version: number.min(1),
  createdAt: z.int(),
  /** The version that the run started from, and the last consolidation before it; 0: none. */
  base: number,
  baseline: number,
  model: z.string(),
  /** What the run could still use up; the prompt tells it. */
  budget: z.strictObject({ maxTurns: z.int(), maxTokens: z.int(), maxWriteBytes: z.int() }),
  /** Of passes before it that the version counts as well. */
  usageBefore: tokenUsageShape,
  /** Up to how many tokens of material the run was asked for in one call; absent in records from before there was that way. */
  oneShotTokens: number.optional(),
  /** Those that decided which inputs were selected. */
  settings: z.strictObject({ maxRawMemoriesForConsolidation: number, maxUnusedDays: number }),
  templates: z.array(z.strictObject({ name: z.enum(TEMPLATE_NAMES), version: z.string(), sha256 })),
  selection: z.array(
    z.strictObject({
      threadId: z.string().min(1),
      sourceUpdatedAt: z.int(),
      slug: z.string().nullable(),
      project: z.string(),
    }),
  ),
  inputs: z.strictObject({ added: threadIds, retained: threadIds, removed: threadIds }),
  newNotes: z.array(z.string()),
  /** Every file of the workspace before the first answer: path and hash, in the order of the workspace. */
  files: z.array(z.tuple([z.string(), sha256])),
  /** What the run was told of as changed, in that order, each with the hash of what stood there before; null: nothing did. */
  changes: z.array(z.tuple([z.string(), sha256.nullable()])),
  /** Threads that it rested on before. */
  inputsBefore: number,
  /** Of the diff file that the run read first. */
  diffSha256: sha256,
  answers: z.array(z.strictObject({ step: z.string(), answer: z.unknown() })),
});

export type RunRecord = z.infer<typeof recordShape>;

export function runRecordToText(record: RunRecord): string {
  return JSON.stringify(record);
}

/**
 * Reads a record.
 * @param ref the name under which it lies; it must say the same
 * @throws DefectError `replay.unreadable`, with the field that is wrong and never what it holds
 */
export function parseRunRecord(text: string, ref: ReplayRef): RunRecord {
  const found = recordShape.safeParse(parseJson(text, ref));
  if (!found.success) throw unreadable(ref, found.error.issues[0]?.path.join('.') ?? '');
  const { epoch, version, createdAt } = found.data;
  if (epoch !== ref.epoch || version !== ref.version || createdAt !== ref.createdAt) throw unreadable(ref, 'version');
  return found.data;
}

/** Threads that a record rests on: those whose texts its inputs or answers may quote. */
export function threadsOf(record: Pick<RunRecord, 'selection' | 'inputs'>): readonly string[] {
  return [...new Set([...record.selection.map((input) => input.threadId), ...record.inputs.removed])];
}

function parseJson(text: string, ref: ReplayRef): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable(ref, 'json'); // without the cause: a JSON error quotes what it read
  }
}

function unreadable({ version }: ReplayRef, field: string): DefectError {
  return new DefectError('replay.unreadable', `the record of the run that made version ${version} is damaged`, {
    details: { version, field },
  });
}
