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
 * The evidence of a rollout.
 * @param rows in original order
 * @param items how many items there were in all: places that no row holds are gaps
 * @returns at most `4 × maxTokens` bytes, else nothing
 */
export function renderEvidence(rows: readonly PlacedRow[], items: number, maxTokens: number): string {
  const taken = new Map(selectRows(rows, evidenceBudgetBytes(maxTokens)).map((row) => [row.place, row]));
  const parts: string[] = [];
  let next = 0;
  for (const { place } of rows) {
    const row = taken.get(place);
    if (!row) continue;
    if (place > next) parts.push(GAP);
    parts.push(renderRow(row));
    next = place + 1;
  }
  if (next < items) parts.push(GAP);
  const evidence = parts.join('');
  return utf8Length(evidence) > BYTES_PER_TOKEN * maxTokens ? '' : evidence;
}

/** The rows that fit, the last of them cut (TI-06). */
function selectRows(rows: readonly PlacedRow[], budgetBytes: number): PlacedRow[] {
  const selected: PlacedRow[] = [];
  let remaining = budgetBytes;
  for (const tier of EVIDENCE_TIERS) {
    for (let at = rows.length - 1; at >= 0; at--) {
      const row = rows[at];
      if (row?.tier !== tier) continue;
      if (remaining <= GAP_BYTES + ROW_OVERHEAD_BYTES) return selected;
      const room = remaining - GAP_BYTES;
      const textRoom = room - ROW_OVERHEAD_BYTES - utf8Length(projectMark(row));
      const fits = rowBytes(row) <= room;
      if (!fits && textRoom <= 0) continue;
      const fitting = fits ? row : { ...row, text: truncateBytes(row.text, textRoom) };
      selected.push(fitting);
      remaining -= rowBytes(fitting) + GAP_BYTES;
    }
  }
  return selected;
}

/** Bytes of a row with its label and line ends. */
export function rowBytes(row: EvidenceRow): number {
  return TIER_LABELS[row.tier].length + 4 + utf8Length(projectMark(row)) + utf8Length(row.text);
}
