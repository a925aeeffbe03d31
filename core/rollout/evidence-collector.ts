import { CommandPairs } from './command-pairs.ts';
import { evidenceBudgetBytes, layOut, selectRows } from './evidence.ts';
import { shareOut } from './evidence-shares.ts';
import { type ReadyRow, TierItems } from './evidence-tier.ts';
import type { ItemSetting, Unpack } from './held-items.ts';
import { RecallGuard } from './recall-guard.ts';
import { EVIDENCE_TIERS, type EvidenceShares, type EvidenceTier } from './rollout.ts';
import { stepOf, type ToolStep } from './tool-step.ts';

/** An item that may become a row. */
export interface TextItem {
  readonly tier: EvidenceTier;
  readonly isToolOutput: boolean;
  /** The item's JSON, not yet redacted; undefined when it proves to be unreadable. */
  toJson(): string | undefined;
}

/** An item of which only the record's bytes were looked at: most items of a long rollout never become rows. */
export interface PackedItem {
  readonly tier: EvidenceTier;
  readonly isToolOutput: boolean;
  /** Only valid while the item is handed on. */
  readonly bytes: Uint8Array;
  readonly unpack: Unpack;
}

export type PendingItem = TextItem | PackedItem;

/** Gathers evidence while a rollout streams by, in bounded memory. */
export interface EvidenceCollector {
  add(item: PendingItem, setting?: ItemSetting): void;
  /** The evidence, and what was redacted in the rows that were looked at. */
  finish(): {
    readonly evidence: string;
    readonly redactions: Readonly<Record<string, number>>;
    readonly shares: EvidenceShares | null;
  };
}

/** Collects nothing: for those who ask for facts only. */
export class NoEvidence implements EvidenceCollector {
  add(_item: PendingItem, _setting?: ItemSetting): void {}

  finish(): ReturnType<EvidenceCollector['finish']> {
    return { evidence: '', redactions: {}, shares: null };
  }
}

const NO_SETTING: ItemSetting = {};
/** How much a tier holds, at least, before it is looked through. Tool items are the most by far. */
const HELD_BYTES = 8 * 1_048_576;
const HELD_TOOL_BYTES = 4 * HELD_BYTES;

/**
 * Rows by tier (behaviours 1.T). Of each tier only the newest items that could still fit the whole budget are kept, so
 * memory does not grow with the rollout; the result is the same as with all of them, unless much of what was kept is taken
 * back later.
 *
 * What better tiers take only grows. Once they fill the budget alone, the tiers below them are shut out for good: in a
 * long session that is most of the file, which is then neither copied, decoded nor redacted.
 */
export class TieredEvidence implements EvidenceCollector {
  readonly #maxTokens: number;
  readonly #budgetBytes: number;
  readonly #heldBytes: number;
  readonly #heldToolBytes: number;
  readonly #pairs = new CommandPairs();
  readonly #recalls = new RecallGuard();
  readonly #tiers = new Map(
    EVIDENCE_TIERS.map((tier) => [tier, new TierItems(tier, tier === 'tool' ? this.#pairs : undefined)]),
  );
  readonly #items: Record<EvidenceTier, number> = {
    human: 0,
    final: 0,
    other_agent: 0,
    commentary: 0,
    context: 0,
    tool: 0,
  };
  #places = 0;

  /** @param heldBytes what a tier may hold before room is made in it; by default some megabytes */
  constructor(maxTokens: number, heldBytes?: number) {
    this.#maxTokens = maxTokens;
    this.#budgetBytes = Math.max(0, evidenceBudgetBytes(maxTokens));
    const atLeast = 6 * this.#budgetBytes;
    this.#heldBytes = heldBytes ?? Math.max(HELD_BYTES, atLeast);
    this.#heldToolBytes = heldBytes ?? Math.max(HELD_TOOL_BYTES, atLeast);
  }

  add(item: PendingItem, setting: ItemSetting = NO_SETTING): void {
    const place = this.#places++;
    this.#items[item.tier]++;
    const items = this.#tiers.get(item.tier);
    if (!items) return; // shut out
    const step = item.tier === 'tool' ? stepOfItem(item) : undefined;
    const standIn = step && this.#recalls.standIn(step);
    if (step) this.#pairs.add(step, place);
    if (standIn !== undefined) items.addText({ place, isToolOutput: true, setting }, standIn);
    else if ('bytes' in item)
      items.addBytes({ place, isToolOutput: item.isToolOutput, setting }, item.bytes, item.unpack);
    else {
      const json = item.toJson();
      if (json !== undefined) items.addText({ place, isToolOutput: item.isToolOutput, setting }, json);
    }
    if (items.heldBytes > (item.tier === 'tool' ? this.#heldToolBytes : this.#heldBytes)) this.#makeRoom(item.tier);
  }

  finish(): ReturnType<EvidenceCollector['finish']> {
    let remaining = this.#budgetBytes;
    const kept: ReadyRow[] = [];
    for (const items of this.#tiers.values()) {
      const rows = items.newest(remaining);
      for (const { bytes } of rows) remaining -= bytes;
      kept.push(...rows);
    }
    const rows = kept
      .map(({ row }) => ({ ...row, rank: this.#pairs.ranks.get(row.place) }))
      .sort((left, right) => left.place - right.place);
    const selected = selectRows(rows, evidenceBudgetBytes(this.#maxTokens));
    const shares = shareOut({ items: this.#items, rows, selected, pairs: this.#pairs.count });
    return { evidence: layOut(selected, this.#places, this.#maxTokens), redactions: sumFound(kept), shares };
  }

  /** Lets go of what cannot become a row any more, in this tier and in the better ones. */
  #makeRoom(until: EvidenceTier): void {
    let remaining = this.#budgetBytes;
    let reached = false;
    for (const [tier, items] of this.#tiers) {
      if (remaining < 0) this.#tiers.delete(tier);
      else if (reached) return;
      else remaining -= items.keepNewest(remaining);
      reached ||= tier === until;
    }
  }
}

/** What a tool item tells of its call. */
export function stepOfItem(item: PendingItem): ToolStep | undefined {
  const json = 'bytes' in item ? item.bytes : item.toJson();
  return json === undefined ? undefined : stepOf(json, item.isToolOutput);
}

function sumFound(rows: readonly ReadyRow[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const { found } of rows) {
    for (const [kind, count] of Object.entries(found)) sum[kind] = (sum[kind] ?? 0) + count;
  }
  return sum;
}
