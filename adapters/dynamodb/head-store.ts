import type { Head } from '../../core/consolidation/manifest.ts';
import type { HeadStore, SwitchRequest } from '../../core/ports/head-store.ts';
import type { DynamoTable } from './dynamo-table.ts';
import { DynamoFront } from './front.ts';
import { readHead, resetHead, setFence, switchHead, writeIdOf } from './head-requests.ts';
import { itemKey } from './requests.ts';
import { SORT_KEYS } from './table.ts';
import { newWriteId } from './write-id.ts';

/** The head in DynamoDB: one item a user, all that a read needs. */
export class DynamoHeadStore implements HeadStore {
  readonly #table: DynamoTable;
  readonly #front: DynamoFront;

  /** @param front share it with the settings' store: a read then asks for both in one request */
  constructor(table: DynamoTable, front: DynamoFront = new DynamoFront(table)) {
    this.#table = table;
    this.#front = front;
  }

  async read(userKey: string): Promise<Head> {
    return readHead(await this.#front.get(itemKey(userKey, SORT_KEYS.head)));
  }

  async setFence(userKey: string, token: string): Promise<Head> {
    return readHead(await this.#table.updateAndRead(setFence(userKey, token)));
  }

  async switchTo(userKey: string, request: SwitchRequest): Promise<'switched' | 'lost'> {
    const writeId = newWriteId();
    if ((await this.#table.update(switchHead(userKey, request, writeId))) === 'done') return 'switched';
    const stored = await this.#table.get(itemKey(userKey, SORT_KEYS.head));
    return writeIdOf(stored) === writeId ? 'switched' : 'lost';
  }

  async reset(userKey: string): Promise<Head> {
    const stored = await this.#table.updateAndRead(resetHead(userKey, newWriteId()));
    // undefined: the reply to this very reset was lost
    return readHead(stored ?? (await this.#table.get(itemKey(userKey, SORT_KEYS.head))));
  }
}
