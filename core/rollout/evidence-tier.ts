import type { CommandPairs } from './command-pairs.ts';
import { compareWorth, cutRowText, GAP_BYTES, type PlacedRow, rowBytes } from './evidence.ts';
import { type HeldItem, HeldItems, type ItemLabel, type ItemSetting, type Unpack } from './held-items.ts';
import { redactCounted } from './redact.ts';
import type { EvidenceTier } from './rollout.ts';

/** A row that can be shown, and what it takes of the budget. */
export interface ReadyRow {
  readonly row: PlacedRow;
  /** With the gap marker that it may need. */
  readonly bytes: number;
  readonly found: Readonly<Record<string, number>>;
  readonly setting: ItemSetting;
}

/** The items of one tier, of which only the newest that could still fit are turned into rows, and only when they must. */
export class TierItems {
  readonly #tier: EvidenceTier;
  readonly #items = new HeldItems();
  /** Rows of the newest items at the last time of making room, oldest first. */
  #ready: ReadyRow[] = [];

  readonly #pairs: CommandPairs | undefined;

  /** @param pairs of tool items: rows of a pair come first */
  constructor(tier: EvidenceTier, pairs?: CommandPairs) {
    this.#tier = tier;
    this.#pairs = pairs;
  }

  addText(label: ItemLabel, json: string): void {
    this.#items.addText(label, json);
  }

  /** @param bytes only valid during the call */
  addBytes(label: ItemLabel, bytes: Uint8Array, unpack: Unpack): void {
    this.#items.addBytes(label, bytes, unpack);
  }

  /** What is held of items that came since room was made. */
  get heldBytes(): number {
    return this.#items.bytes;
  }

  /**
   * The rows that are taken first until they fill the budget; the row that overflows it is among them. Newest first, of tools
   * those of pairs before; of what the person said also the first.
   */
  newest(budgetBytes: number): ReadyRow[] {
    const rows: ReadyRow[] = [];
    let used = 0;
    const take = (ready: ReadyRow | undefined): void => {
      if (!ready || ready.setting.passage?.isTakenBack) return;
      rows.push(ready);
      used += ready.bytes;
    };
    for (const ready of this.#ofPairs()) if (used <= budgetBytes) take(ready);
    const preferred = new Set(rows.map(({ row }) => row.place));
    for (let at = this.#items.count - 1; at >= 0 && used <= budgetBytes; at--) {
      const item = this.#items.at(at);
      if (item && !preferred.has(item.place)) take(this.#toReady(item));
    }
    for (let at = this.#ready.length - 1; at >= 0 && used <= budgetBytes; at--) {
      const ready = this.#ready[at];
      if (ready && !preferred.has(ready.row.place)) take(ready);
    }
    if (this.#tier === 'human' && budgetBytes >= 0 && used > budgetBytes) {
      const opening = this.#opening();
      if (opening && !rows.some(({ row }) => row.place === opening.row.place)) take(opening);
    }
    return rows;
  }

  /** What the person said first and did not take back. */
  #opening(): ReadyRow | undefined {
    const ready = this.#ready.find(({ setting }) => !setting.passage?.isTakenBack);
    for (let at = 0; ready === undefined && at < this.#items.count; at++) {
      const row = this.#toReady(this.#items.at(at));
      if (row) return row;
    }
    return ready;
  }

  /** The rows of commands that failed and later passed, the newest pair first. */
  #ofPairs(): readonly ReadyRow[] {
    const pairs = this.#pairs;
    if (pairs === undefined || pairs.ranks.size === 0) return [];
    const found = this.#rowsAt(pairs.ranks);
    const ranked = found.map((ready) => ({ ready, place: ready.row.place, rank: pairs.ranks.get(ready.row.place) }));
    return ranked.sort(compareWorth).map(({ ready }) => ready);
  }

  #rowsAt(places: { has(place: number): boolean }): ReadyRow[] {
    const rows = this.#ready.filter(({ row }) => places.has(row.place));
    for (let at = 0; at < this.#items.count; at++) {
      const item = this.#items.at(at);
      const ready = item && places.has(item.place) ? this.#toReady(item) : undefined;
      if (ready) rows.push(ready);
    }
    return rows;
  }

  /** Lets go of what cannot fit any more. @returns what the kept rows take */
  keepNewest(budgetBytes: number): number {
    const kept = this.newest(budgetBytes);
    const places = new Set(kept.map(({ row }) => row.place));
    const awaited = this.#pairs?.awaited();
    const more = awaited ? this.#rowsAt(awaited).filter(({ row }) => !places.has(row.place)) : [];
    this.#pairs?.forgetOthers(places);
    this.#ready = [...kept, ...more].sort((left, right) => left.row.place - right.row.place);
    this.#items.clear();
    return kept.reduce((sum, ready) => sum + ready.bytes, 0);
  }

  #toReady(item: HeldItem | undefined): ReadyRow | undefined {
    if (item === undefined || item.setting.passage?.isTakenBack) return undefined;
    const json = item.toJson();
    if (json === undefined) return undefined;
    const { setting } = item;
    const { text, found } = redactCounted(json);
    const row = {
      place: item.place,
      tier: this.#tier,
      text: cutRowText(text, item.isToolOutput),
      project: setting.project,
    };
    return { row, bytes: rowBytes(row) + GAP_BYTES, found, setting };
  }
}
