import { cutRowText, evidenceBudgetBytes, GAP_BYTES, type PlacedRow, renderEvidence, rowBytes } from './evidence.ts';
import { redactCounted } from './redact.ts';
import { EVIDENCE_TIERS, type EvidenceTier } from './rollout.ts';

/** An item that may become a row. It is turned into text late, because most items of a long rollout never are. */
export interface PendingItem {
  readonly tier: EvidenceTier;
  readonly isToolOutput: boolean;
  /** What it holds in memory meanwhile. */
  readonly heldBytes: number;
  /** The item's JSON, not yet redacted; undefined when it proves to be unreadable. */
  toJson(): string | undefined;
}

/** Gathers evidence while a rollout streams by, in bounded memory. */
export interface EvidenceCollector {
  /** False when items are not wanted: nobody need keep their bytes. */
  readonly keepsItems: boolean;
  add(item: PendingItem): void;
  /** The evidence, and what was redacted in the rows that were looked at. */
  finish(): { readonly evidence: string; readonly redactions: Readonly<Record<string, number>> };
}

/** Collects nothing: for those who ask for facts only. */
export class NoEvidence implements EvidenceCollector {
  readonly keepsItems = false;

  add(_item: PendingItem): void {}

  finish(): ReturnType<EvidenceCollector['finish']> {
    return { evidence: '', redactions: {} };
  }
}

interface Slot {
  readonly place: number;
  readonly item: PendingItem;
  row?: PlacedRow;
  /** Bytes of the row, with the gap marker that it may need. */
  rowBytes?: number;
  found?: Readonly<Record<string, number>>;
  void?: boolean;
}

const MIN_COMPACT_BYTES = 8 * 1_048_576;
/** What a slot itself takes, roughly; small against a row, so that compacting always makes room. */
const SLOT_BYTES = 64;

/**
 * Rows by tier (behaviours 1.T). Of each tier only the newest items that could still fit the whole budget are kept, so
 * memory does not grow with the rollout; the result is the same as with all of them.
 */
export class TieredEvidence implements EvidenceCollector {
  readonly keepsItems = true;
  readonly #maxTokens: number;
  readonly #budgetBytes: number;
  readonly #slots: Record<EvidenceTier, Slot[]> = {
    human: [],
    final: [],
    other_agent: [],
    commentary: [],
    context: [],
    tool: [],
  };
  readonly #heldBytes: Record<EvidenceTier, number> = {
    human: 0,
    final: 0,
    other_agent: 0,
    commentary: 0,
    context: 0,
    tool: 0,
  };
  #places = 0;

  constructor(maxTokens: number) {
    this.#maxTokens = maxTokens;
    this.#budgetBytes = Math.max(0, evidenceBudgetBytes(maxTokens));
  }

  add(item: PendingItem): void {
    this.#slots[item.tier].push({ place: this.#places++, item });
    this.#heldBytes[item.tier] += item.heldBytes + SLOT_BYTES;
    if (this.#heldBytes[item.tier] > Math.max(MIN_COMPACT_BYTES, 6 * this.#budgetBytes)) this.#compact(item.tier);
  }

  finish(): ReturnType<EvidenceCollector['finish']> {
    let remaining = this.#budgetBytes;
    const kept: Slot[] = [];
    for (const tier of EVIDENCE_TIERS) {
      const slots = this.#newest(tier, remaining);
      for (const slot of slots) remaining -= slot.rowBytes ?? 0;
      kept.push(...slots);
    }
    kept.sort((left, right) => left.place - right.place);
    const rows = kept.flatMap((slot) => slot.row ?? []);
    return { evidence: renderEvidence(rows, this.#places, this.#maxTokens), redactions: sumFound(kept) };
  }

  #compact(tier: EvidenceTier): void {
    const kept = this.#newest(tier, this.#budgetBytes).reverse();
    this.#slots[tier] = kept;
    this.#heldBytes[tier] = kept.reduce((sum, slot) => sum + SLOT_BYTES + 2 * (slot.row?.text.length ?? 0), 0);
  }

  /** The newest slots of a tier, newest first, until their rows fill the budget; the row that overflows it is among them. */
  #newest(tier: EvidenceTier, budgetBytes: number): Slot[] {
    const slots = this.#slots[tier];
    const kept: Slot[] = [];
    let used = 0;
    for (let at = slots.length - 1; at >= 0 && used <= budgetBytes; at--) {
      const slot = slots[at];
      if (!slot) continue;
      const ready = slot.row || slot.void ? slot : toReady(slot);
      kept.push(ready);
      used += ready.rowBytes ?? 0;
    }
    return kept;
  }
}

/** Turns an item into its row and lets the item go. */
function toReady({ place, item }: Slot): Slot {
  const json = item.toJson();
  const spent: PendingItem = {
    tier: item.tier,
    isToolOutput: item.isToolOutput,
    heldBytes: 0,
    toJson: () => undefined,
  };
  if (json === undefined) return { place, item: spent, void: true };
  const { text, found } = redactCounted(json);
  const row = { place, tier: item.tier, text: cutRowText(text, item.isToolOutput) };
  return { place, item: spent, row, rowBytes: rowBytes(row) + GAP_BYTES, found };
}

function sumFound(slots: readonly Slot[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const slot of slots) {
    for (const [kind, count] of Object.entries(slot.found ?? {})) sum[kind] = (sum[kind] ?? 0) + count;
  }
  return sum;
}
