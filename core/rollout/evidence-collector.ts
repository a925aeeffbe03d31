import { cutRowText, evidenceBudgetBytes, GAP_BYTES, type PlacedRow, renderEvidence, rowBytes } from './evidence.ts';
import { redactCounted } from './redact.ts';
import { EVIDENCE_TIERS, type EvidenceTier, type Passage } from './rollout.ts';

/** An item that may become a row. It is turned into text late, because most items of a long rollout never are. */
export interface PendingItem {
  readonly tier: EvidenceTier;
  readonly isToolOutput: boolean;
  /** What it holds in memory meanwhile. */
  readonly heldBytes: number;
  /** The item's JSON, not yet redacted; undefined when it proves to be unreadable. */
  toJson(): string | undefined;
}

/** What is true of many items in a row. */
export interface ItemSetting {
  /** The project that the work is in, where that is not the session's own; redacted. */
  readonly project?: string | undefined;
  readonly passage?: Passage | undefined;
}

/** Gathers evidence while a rollout streams by, in bounded memory. */
export interface EvidenceCollector {
  /** False when no further item of the tier can become a row: nobody need keep its bytes. It must be added all the same. */
  keeps(tier: EvidenceTier): boolean;
  add(item: PendingItem, setting?: ItemSetting): void;
  /** The evidence, and what was redacted in the rows that were looked at. */
  finish(): { readonly evidence: string; readonly redactions: Readonly<Record<string, number>> };
}

/** Collects nothing: for those who ask for facts only. */
export class NoEvidence implements EvidenceCollector {
  keeps(_tier: EvidenceTier): boolean {
    return false;
  }

  add(_item: PendingItem, _setting?: ItemSetting): void {}

  finish(): ReturnType<EvidenceCollector['finish']> {
    return { evidence: '', redactions: {} };
  }
}

interface Slot {
  readonly place: number;
  readonly item: PendingItem;
  readonly setting: ItemSetting;
  row?: PlacedRow;
  /** Bytes of the row, with the gap marker that it may need. */
  rowBytes?: number;
  found?: Readonly<Record<string, number>>;
  void?: boolean;
}

const NO_SETTING: ItemSetting = {};
/** How much a tier holds before it is looked through. Tool items are the most, and mostly bytes outside the heap. */
const COMPACT_BYTES = 8 * 1_048_576;
const COMPACT_TOOL_BYTES = 16 * 1_048_576;
/** What a slot itself takes, roughly; small against a row, so that compacting always makes room. */
const SLOT_BYTES = 64;

/** What is held of one tier, oldest first. */
interface Held {
  slots: Slot[];
  bytes: number;
}

/**
 * Rows by tier (behaviours 1.T). Of each tier only the newest items that could still fit the whole budget are kept, so
 * memory does not grow with the rollout; the result is the same as with all of them, unless so many are taken back later that
 * what was let go of would have had room.
 *
 * What better tiers take only ever grows. Once they fill the budget alone, the tiers below them are shut out for good: in a
 * long session that is most of the file, which is then neither copied, decoded nor redacted.
 */
export class TieredEvidence implements EvidenceCollector {
  readonly #maxTokens: number;
  readonly #budgetBytes: number;
  readonly #held: Record<EvidenceTier, Held> = {
    human: { slots: [], bytes: 0 },
    final: { slots: [], bytes: 0 },
    other_agent: { slots: [], bytes: 0 },
    commentary: { slots: [], bytes: 0 },
    context: { slots: [], bytes: 0 },
    tool: { slots: [], bytes: 0 },
  };
  readonly #shutOut = new Set<EvidenceTier>();
  #places = 0;

  constructor(maxTokens: number) {
    this.#maxTokens = maxTokens;
    this.#budgetBytes = Math.max(0, evidenceBudgetBytes(maxTokens));
  }

  keeps(tier: EvidenceTier): boolean {
    return !this.#shutOut.has(tier);
  }

  add(item: PendingItem, setting: ItemSetting = NO_SETTING): void {
    const place = this.#places++;
    if (this.#shutOut.has(item.tier)) return;
    const held = this.#held[item.tier];
    held.slots.push({ place, item, setting });
    held.bytes += item.heldBytes + SLOT_BYTES;
    const limit = item.tier === 'tool' ? COMPACT_TOOL_BYTES : COMPACT_BYTES;
    if (held.bytes > Math.max(limit, 6 * this.#budgetBytes)) this.#compact(item.tier);
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

  /** Lets go of what cannot become a row any more, in this tier and in the better ones. */
  #compact(until: EvidenceTier): void {
    let remaining = this.#budgetBytes;
    for (const tier of EVIDENCE_TIERS) {
      if (remaining < 0) {
        this.#shutOut.add(tier);
        this.#held[tier] = { slots: [], bytes: 0 };
        continue;
      }
      if (EVIDENCE_TIERS.indexOf(tier) > EVIDENCE_TIERS.indexOf(until)) return;
      const slots = this.#newest(tier, remaining).reverse();
      const bytes = slots.reduce((sum, slot) => sum + SLOT_BYTES + 2 * (slot.row?.text.length ?? 0), 0);
      this.#held[tier] = { slots, bytes };
      for (const slot of slots) remaining -= slot.rowBytes ?? 0;
    }
  }

  /** The newest slots of a tier, newest first, until their rows fill the budget; the row that overflows it is among them. */
  #newest(tier: EvidenceTier, budgetBytes: number): Slot[] {
    const { slots } = this.#held[tier];
    const kept: Slot[] = [];
    let used = 0;
    for (let at = slots.length - 1; at >= 0 && used <= budgetBytes; at--) {
      const slot = slots[at];
      if (!slot || slot.setting.passage?.isTakenBack) continue;
      const ready = slot.row || slot.void ? slot : toReady(slot);
      kept.push(ready);
      used += ready.rowBytes ?? 0;
    }
    return kept;
  }
}

/** Turns an item into its row and lets the item go. */
function toReady({ place, item, setting }: Slot): Slot {
  const json = item.toJson();
  const spent: PendingItem = {
    tier: item.tier,
    isToolOutput: item.isToolOutput,
    heldBytes: 0,
    toJson: () => undefined,
  };
  if (json === undefined) return { place, item: spent, setting, void: true };
  const { text, found } = redactCounted(json);
  const row = { place, tier: item.tier, text: cutRowText(text, item.isToolOutput), project: setting.project };
  return { place, item: spent, setting, row, rowBytes: rowBytes(row) + GAP_BYTES, found };
}

function sumFound(slots: readonly Slot[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const slot of slots) {
    for (const [kind, count] of Object.entries(slot.found ?? {})) sum[kind] = (sum[kind] ?? 0) + count;
  }
  return sum;
}
