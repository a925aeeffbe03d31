import { NO_TRACES, type TraceCounts, type UserTraces } from '../../core/ports/user-traces.ts';
import type { DynamoTable, ItemKey, QueryRequest, StoredItem } from './dynamo-table.ts';
import { unreadableItem } from './failure.ts';
import { SORT_KEYS, userPartition } from './table.ts';

/** What the table keeps of a user: every item of one partition, also those whose time to live is over; `EraseMarks` owns its own. */
export class DynamoUserTraces implements UserTraces {
  readonly #table: DynamoTable;

  constructor(table: DynamoTable) {
    this.#table = table;
  }

  async count(userKey: string): Promise<TraceCounts> {
    return { ...NO_TRACES, items: (await this.#table.query(listKeys(userKey))).length };
  }

  async erase(userKey: string): Promise<TraceCounts> {
    const keys = (await this.#table.query(listKeys(userKey))).map(keyOf).filter(({ sk }) => sk !== SORT_KEYS.erase);
    await this.#table.deleteMany(keys);
    return { ...NO_TRACES, items: keys.length };
  }
}

/** The keys of all items of a user. */
export function listKeys(userKey: string): QueryRequest {
  return {
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': userPartition(userKey) },
    ProjectionExpression: 'pk, sk',
    ConsistentRead: true,
  };
}

function keyOf({ pk, sk }: StoredItem): ItemKey {
  if (typeof pk === 'string' && typeof sk === 'string') return { pk, sk };
  throw unreadableItem('any', 'sk');
}
