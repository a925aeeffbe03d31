import { cutRowText, GAP_BYTES, type PlacedRow, rowBytes } from './evidence.ts';
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

  constructor(tier: EvidenceTier) {
    this.#tier = tier;
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

  /** The newest rows, newest first, until they fill the budget; the row that overflows it is among them. */
  newest(budgetBytes: number): ReadyRow[] {
    const rows: ReadyRow[] = [];
    let used = 0;
    const take = (ready: ReadyRow | undefined): void => {
      if (!ready || ready.setting.passage?.isTakenBack) return;
      rows.push(ready);
      used += ready.bytes;
    };
    for (let at = this.#items.count - 1; at >= 0 && used <= budgetBytes; at--) take(this.#toReady(this.#items.at(at)));
    for (let at = this.#ready.length - 1; at >= 0 && used <= budgetBytes; at--) take(this.#ready[at]);
    return rows;
  }

  /** Lets go of what cannot fit any more. @returns what the kept rows take */
  keepNewest(budgetBytes: number): number {
    this.#ready = this.newest(budgetBytes).reverse();
    this.#items.clear();
    return this.#ready.reduce((sum, ready) => sum + ready.bytes, 0);
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
