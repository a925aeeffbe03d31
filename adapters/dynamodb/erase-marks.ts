import * as z from 'zod/mini';
import type { EraseMarks } from '../../core/ports/erase-marks.ts';
import { SECOND_MS } from '../../core/time.ts';
import type { DynamoTable } from './dynamo-table.ts';
import { parseItem } from './item-shape.ts';
import { itemKey } from './requests.ts';
import { SORT_KEYS, TTL_ATTRIBUTE } from './table.ts';

const ITEM = z.object({ until: z.int() });

/** Marks in DynamoDB: one item a user, which the table removes by its time to live when nobody asks again. */
export class DynamoEraseMarks implements EraseMarks {
  readonly #table: DynamoTable;

  constructor(table: DynamoTable) {
    this.#table = table;
  }

  /** @throws DefectError `table.item_unreadable` naming the attribute */
  async read(userKey: string): Promise<number | null> {
    const item = await this.#table.get(itemKey(userKey, SORT_KEYS.erase));
    return item === undefined ? null : parseItem('erase mark', ITEM, item).until;
  }

  async write(userKey: string, until: number): Promise<void> {
    const expiresAt = Math.ceil(until / SECOND_MS);
    await this.#table.put({ Item: { ...itemKey(userKey, SORT_KEYS.erase), until, [TTL_ATTRIBUTE]: expiresAt } });
  }

  async remove(userKey: string): Promise<void> {
    await this.#table.delete({ Key: { ...itemKey(userKey, SORT_KEYS.erase) } });
  }
}
