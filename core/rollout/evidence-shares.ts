import { utf8Length } from '../text.ts';
import { type PlacedRow, renderRow } from './evidence.ts';
import { EVIDENCE_TIERS, type EvidenceShares, type EvidenceTier, type TierShare } from './rollout.ts';

const ROWS_OF_PAIR = 4;

/**
 * Sums up what became evidence.
 * @param made.items of each tier, met
 * @param made.rows all that could be rows, whole
 * @param made.selected the rows of the evidence, some of them cut
 * @param made.pairs that were found, of commands that failed and later passed
 */
export function shareOut(made: {
  readonly items: Readonly<Record<EvidenceTier, number>>;
  readonly rows: readonly PlacedRow[];
  readonly selected: readonly PlacedRow[];
  readonly pairs: number;
}): EvidenceShares {
  const tiers: Record<EvidenceTier, TierShare> = { ...NOTHING };
  for (const tier of EVIDENCE_TIERS) {
    const rows = made.selected.filter((row) => row.tier === tier);
    const bytes = rows.reduce((sum, row) => sum + utf8Length(renderRow(row)), 0);
    tiers[tier] = { items: made.items[tier], rows: rows.length, bytes };
  }
  const whole = new Set(made.rows.map((row) => row.text));
  const ofPair = new Map<number, number>();
  for (const { rank, text } of made.selected) {
    if (rank !== undefined && whole.has(text)) ofPair.set(rank, (ofPair.get(rank) ?? 0) + 1);
  }
  const kept = [...ofPair.values()].filter((rows) => rows === ROWS_OF_PAIR).length;
  return { tiers, pairs: { found: made.pairs, kept } };
}

const NONE = { items: 0, rows: 0, bytes: 0 };
const NOTHING: EvidenceShares['tiers'] = {
  human: NONE,
  final: NONE,
  other_agent: NONE,
  commentary: NONE,
  context: NONE,
  tool: NONE,
};
