import { truncateBytes, utf8Length } from '../text.ts';
import { EVIDENCE_TIERS, type EvidenceRow, TIER_LABELS } from './rollout.ts';

/** Rows within a budget, best tier first, newest first (behaviours TI-05 to TI-07). All limits are UTF-8 bytes. */
export const GAP = '[... response items omitted ...]\n';
export const GAP_BYTES = 33;
const ROW_OVERHEAD_BYTES = 96;
const ROW_BYTES = 10_000 - ROW_OVERHEAD_BYTES;
const TOOL_OUTPUT_BYTES = 8_000 - ROW_OVERHEAD_BYTES;
const BYTES_PER_TOKEN = 4;

/** A row with its place among all items of the rollout. */
export interface PlacedRow extends EvidenceRow {
  readonly place: number;
  /** Of rows that come before the others of their tier: the highest is taken first. */
  readonly rank?: number | undefined;
}

/** The order in which the rows of one tier are taken: by rank, then the newest first. */
export function compareWorth(
  left: Pick<PlacedRow, 'place' | 'rank'>,
  right: Pick<PlacedRow, 'place' | 'rank'>,
): number {
  return (right.rank ?? -1) - (left.rank ?? -1) || right.place - left.place;
}

/** Cuts an item's redacted text to its own limit (TI-05). */
export function cutRowText(text: string, isToolOutput: boolean): string {
  return truncateBytes(isToolOutput ? truncateBytes(text, TOOL_OUTPUT_BYTES) : text, ROW_BYTES);
}

/** One row as it stands in the evidence; below its label the project, where that is not the session's own (A13). */
export function renderRow(row: EvidenceRow): string {
  return `[${TIER_LABELS[row.tier]}]\n${projectMark(row)}${row.text}\n`;
}

function projectMark({ project }: EvidenceRow): string {
  return project === undefined ? '' : `[project: ${project}]\n`;
}

/** Bytes that rows and gap markers may take together, before the marker that may follow the last row (TI-06). */
export function evidenceBudgetBytes(maxTokens: number): number {
  return BYTES_PER_TOKEN * maxTokens - GAP_BYTES;
}

/**
 * The evidence of a rollout: rows that were selected as text, in original order, with a mark for every gap (TI-07).
 * @param items how many items there were in all: places that no row holds are gaps
 * @returns at most `4 × maxTokens` bytes, else nothing
 */
export function layOut(selected: readonly PlacedRow[], items: number, maxTokens: number): string {
  const parts: string[] = [];
  let next = 0;
  for (const row of [...selected].sort((left, right) => left.place - right.place)) {
    if (row.place > next) parts.push(GAP);
    parts.push(renderRow(row));
    next = row.place + 1;
  }
  if (next < items) parts.push(GAP);
  const evidence = parts.join('');
  return utf8Length(evidence) > BYTES_PER_TOKEN * maxTokens ? '' : evidence;
}

/** Of the budget, for the request that opened the session where all that the person said does not fit (A3, A4). */
const OPENING_SHARE = 16;

/**
 * The rows that fit, the last of them cut (TI-06).
 * @param rows in original order
 */
export function selectRows(rows: readonly PlacedRow[], budgetBytes: number): PlacedRow[] {
  const selected = fillBudget(rows, budgetBytes);
  const opening = rows.find((row) => row.tier === 'human');
  if (opening === undefined || selected.some((row) => row.place === opening.place)) return selected;
  const room = Math.floor(budgetBytes / OPENING_SHARE) - GAP_BYTES;
  const first = room <= 2 * ROW_OVERHEAD_BYTES ? undefined : fitRow(opening, room);
  if (first === undefined) return selected;
  const rest = rows.filter((row) => row !== opening);
  return [first, ...fillBudget(rest, budgetBytes - rowBytes(first) - GAP_BYTES)];
}

function fillBudget(rows: readonly PlacedRow[], budgetBytes: number): PlacedRow[] {
  const selected: PlacedRow[] = [];
  let remaining = budgetBytes;
  for (const tier of EVIDENCE_TIERS) {
    for (const row of rows.filter((each) => each.tier === tier).sort(compareWorth)) {
      if (remaining <= GAP_BYTES + ROW_OVERHEAD_BYTES) return selected;
      const fitting = fitRow(row, remaining - GAP_BYTES);
      if (fitting === undefined) continue;
      selected.push(fitting);
      remaining -= rowBytes(fitting) + GAP_BYTES;
    }
  }
  return selected;
}

/** The row within `room` bytes, cut if it must be; undefined where nothing of it fits. */
function fitRow(row: PlacedRow, room: number): PlacedRow | undefined {
  if (rowBytes(row) <= room) return row;
  const textRoom = room - ROW_OVERHEAD_BYTES - utf8Length(projectMark(row));
  return textRoom <= 0 ? undefined : { ...row, text: truncateBytes(row.text, textRoom) };
}

/** Bytes of a row with its label and line ends. */
export function rowBytes(row: EvidenceRow): number {
  return TIER_LABELS[row.tier].length + 4 + utf8Length(projectMark(row)) + utf8Length(row.text);
}
