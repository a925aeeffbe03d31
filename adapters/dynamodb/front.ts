import type { DynamoTable, ItemKey, StoredItem } from './dynamo-table.ts';

interface Waiting {
  readonly key: ItemKey;
  readonly promise: Promise<StoredItem | undefined>;
  readonly resolve: (item: StoredItem | undefined) => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * Reads of single items that are asked for within one turn of the event loop travel as one request, and repeated ones as one
 * read; a read that is alone is a plain get. All are consistent. A read of the memory thus costs one request for head and
 * settings, though two stores ask for them.
 */
export class DynamoFront {
  readonly #table: DynamoTable;
  #waiting = new Map<string, Waiting>();

  constructor(table: DynamoTable) {
    this.#table = table;
  }

  get(key: ItemKey): Promise<StoredItem | undefined> {
    const name = nameOf(key);
    const known = this.#waiting.get(name);
    if (known !== undefined) return known.promise;
    if (this.#waiting.size === 0) setImmediate(() => this.#send());
    const waiting = { key, ...Promise.withResolvers<StoredItem | undefined>() };
    this.#waiting.set(name, waiting);
    return waiting.promise;
  }

  async #send(): Promise<void> {
    const batch = this.#waiting;
    this.#waiting = new Map();
    try {
      const items = await this.#read([...batch.values()].map(({ key }) => key));
      for (const [name, { resolve }] of batch) resolve(items.get(name));
    } catch (cause) {
      for (const { reject } of batch.values()) reject(cause);
    }
  }

  async #read(keys: readonly ItemKey[]): Promise<ReadonlyMap<string, StoredItem>> {
    const [only, ...more] = keys;
    if (only !== undefined && more.length === 0) {
      const item = await this.#table.get(only);
      return new Map(item === undefined ? [] : [[nameOf(only), item]]);
    }
    const items = await this.#table.batchGet(keys);
    return new Map(items.map((item) => [nameOf({ pk: String(item['pk']), sk: String(item['sk']) }), item]));
  }
}

function nameOf({ pk, sk }: ItemKey): string {
  return JSON.stringify([pk, sk]);
}
