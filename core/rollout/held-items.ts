import { decodeUtf8, encodeUtf8 } from '../text.ts';
import type { Passage } from './rollout.ts';

/** Turns the bytes that were held of an item into its JSON; undefined when they prove to be unreadable. */
export type Unpack = (bytes: Uint8Array) => string | undefined;

/** What is true of many items in a row; one value stands for all of them. */
export interface ItemSetting {
  /** The project that the work is in, where that is not the session's own; redacted. */
  readonly project?: string | undefined;
  readonly passage?: Passage | undefined;
}

export interface ItemLabel {
  /** Its place among all items of the rollout. */
  readonly place: number;
  readonly isToolOutput: boolean;
  readonly setting: ItemSetting;
}

/** An item as it was put in. */
export interface HeldItem extends ItemLabel {
  readonly toJson: () => string | undefined;
}

/** Bytes of the first block; each next one is twice as large, up to a limit. A longer item gets a block of its own. */
const FIRST_BLOCK_BYTES = 4_096;
const BLOCK_BYTES = 262_144;
const FIELDS = 4;
const FIRST_ENTRIES = 8;
/** What is kept of an item beside its bytes. */
const ITEM_BYTES = 8 * FIELDS + 9;

/**
 * Keeps many small items as bytes in few blocks, and what is to be known of them as plain numbers: thousands of objects cost
 * more than what they hold, and the collector of garbage copies them again and again.
 */
export class HeldItems {
  #blocks: Uint8Array[] = [];
  #used = 0;
  /** Of each item: its place (doubled, odd for a tool output), block, start and length; and how to unpack it. */
  #entries = new Float64Array(FIELDS * FIRST_ENTRIES);
  #settings: ItemSetting[] = [];
  #unpacks: Uint8Array = new Uint8Array(FIRST_ENTRIES);
  readonly #ways: Unpack[] = [decodeUtf8];
  #count = 0;
  #bytes = 0;

  get count(): number {
    return this.#count;
  }

  /** What the items take in memory, roughly. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes an item whose JSON is known. */
  addText(label: ItemLabel, json: string): void {
    this.addBytes(label, encodeUtf8(json), decodeUtf8);
  }

  /** Takes a copy of an item's bytes; `unpack` is one of a few functions. */
  addBytes({ place, isToolOutput, setting }: ItemLabel, bytes: Uint8Array, unpack: Unpack): void {
    if (this.#count === this.#unpacks.length) this.#grow();
    const start = this.#keep(bytes);
    const at = this.#count * FIELDS;
    this.#entries[at] = 2 * place + (isToolOutput ? 1 : 0);
    this.#entries[at + 1] = this.#blocks.length - 1;
    this.#entries[at + 2] = start;
    this.#entries[at + 3] = bytes.length;
    this.#unpacks[this.#count] = this.#wayOf(unpack);
    this.#settings.push(setting);
    this.#count++;
    this.#bytes += bytes.length + ITEM_BYTES;
  }

  /** The item at an index, in the order in which they came. */
  at(index: number): HeldItem | undefined {
    const setting = this.#settings[index];
    if (setting === undefined) return undefined;
    const [key = 0, block = 0, start = 0, length = 0] = this.#entries.subarray(index * FIELDS, (index + 1) * FIELDS);
    const bytes = (this.#blocks[block] ?? new Uint8Array(0)).subarray(start, start + length);
    const unpack = this.#ways[this.#unpacks[index] ?? 0] ?? decodeUtf8;
    return { place: Math.floor(key / 2), isToolOutput: key % 2 === 1, setting, toJson: () => unpack(bytes) };
  }

  clear(): void {
    this.#blocks = [];
    this.#settings = [];
    this.#used = 0;
    this.#count = 0;
    this.#bytes = 0;
  }

  /** @returns where the copy starts in the last block */
  #keep(bytes: Uint8Array): number {
    const last = this.#blocks.at(-1);
    if (last === undefined || this.#used + bytes.length > last.length) {
      const usual = last === undefined ? FIRST_BLOCK_BYTES : Math.min(BLOCK_BYTES, 2 * last.length);
      this.#blocks.push(new Uint8Array(Math.max(usual, bytes.length)));
      this.#used = 0;
    }
    const start = this.#used;
    this.#blocks.at(-1)?.set(bytes, start);
    this.#used += bytes.length;
    return start;
  }

  #wayOf(unpack: Unpack): number {
    const known = this.#ways.indexOf(unpack);
    return known >= 0 ? known : this.#ways.push(unpack) - 1;
  }

  #grow(): void {
    const entries = new Float64Array(2 * this.#entries.length);
    entries.set(this.#entries);
    this.#entries = entries;
    const unpacks = new Uint8Array(2 * this.#unpacks.length);
    unpacks.set(this.#unpacks);
    this.#unpacks = unpacks;
  }
}
