import {
  BatchGetCommand,
  BatchWriteCommand,
  type BatchWriteCommandInput,
  DeleteCommand,
  type DeleteCommandInput,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  type PutCommandInput,
  QueryCommand,
  type QueryCommandInput,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { isConditionFailed, mapTableFailure, throttled } from './failure.ts';

/** The key of one item. */
export interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}

/** What may be written. Absent is an attribute that is not there; there is no undefined. */
export type Value =
  | string
  | number
  | boolean
  | null
  | Uint8Array
  | readonly Value[]
  | { readonly [name: string]: Value };

/** What was read: not trusted before it is parsed. */
export type StoredItem = Readonly<Record<string, unknown>>;

/** Requests as pure functions build them: the SDK's inputs without the table's name. */
export type PutRequest = Omit<PutCommandInput, 'TableName'>;
export type UpdateRequest = Omit<UpdateCommandInput, 'TableName'>;
export type DeleteRequest = Omit<DeleteCommandInput, 'TableName'>;
export type QueryRequest = Omit<QueryCommandInput, 'TableName'>;

type WriteRequest = NonNullable<BatchWriteCommandInput['RequestItems']>[string][number];

/** `failed`: the condition of the write did not hold. */
export type WriteEnd = 'done' | 'failed';

export interface QueryPage {
  readonly items: readonly StoredItem[];
  /** Where the next page starts; undefined = that was all. */
  readonly next: Record<string, unknown> | undefined;
}

const BATCH_GET = 100;
const BATCH_WRITE = 25;

/**
 * The few operations that the stores need of the table. Gets and batch gets are consistent; a query is what its request says.
 * @throws UnavailableError `table.throttled`, `table.unavailable`; DefectError `table.*` (see `mapTableFailure`)
 */
export class DynamoTable {
  readonly #client: DynamoDBDocumentClient;
  readonly #name: string;

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#client = client;
    this.#name = tableName;
  }

  async get(key: ItemKey): Promise<StoredItem | undefined> {
    const input = { TableName: this.#name, Key: { ...key }, ConsistentRead: true };
    return (await attempt(() => this.#client.send(new GetCommand(input)))).Item;
  }

  /**
   * All items of a query, page after page.
   * @param most ends after so many items; leave it out for all
   */
  async query(request: QueryRequest, most = Number.POSITIVE_INFINITY): Promise<StoredItem[]> {
    const items: StoredItem[] = [];
    let next: Record<string, unknown> | undefined;
    do {
      const left = Number.isFinite(most) ? { Limit: most - items.length } : {};
      const page = await this.queryPage({ ...request, ...left, ...(next && { ExclusiveStartKey: next }) });
      items.push(...page.items);
      next = page.next;
    } while (next !== undefined && items.length < most);
    return items;
  }

  /** One page of a query, as long as the table or the request's `Limit` makes it. */
  async queryPage(request: QueryRequest): Promise<QueryPage> {
    const answer = await attempt(() => this.#client.send(new QueryCommand({ TableName: this.#name, ...request })));
    return { items: answer.Items ?? [], next: answer.LastEvaluatedKey };
  }

  /** The items that exist, in no order; repeated keys count once. Goes on while each answer brings something. */
  async batchGet(keys: readonly ItemKey[]): Promise<StoredItem[]> {
    const items: StoredItem[] = [];
    for (const chunk of chunksOf(distinct(keys), BATCH_GET)) {
      await drain<Record<string, unknown>>(chunk, async (left) => {
        const request = { [this.#name]: { Keys: left, ConsistentRead: true } };
        const answer = await this.#client.send(new BatchGetCommand({ RequestItems: request }));
        items.push(...(answer.Responses?.[this.#name] ?? []));
        return answer.UnprocessedKeys?.[this.#name]?.Keys ?? [];
      });
    }
    return items;
  }

  async put(request: PutRequest): Promise<WriteEnd> {
    return write(() => this.#client.send(new PutCommand({ TableName: this.#name, ...request })));
  }

  async update(request: UpdateRequest): Promise<WriteEnd> {
    return write(() => this.#client.send(new UpdateCommand({ TableName: this.#name, ...request })));
  }

  /** An update that answers the whole item after it. @returns undefined when its condition failed */
  async updateAndRead(request: UpdateRequest): Promise<StoredItem | undefined> {
    const input: UpdateCommandInput = { TableName: this.#name, ...request, ReturnValues: 'ALL_NEW' };
    let stored: StoredItem | undefined;
    await write(async () => {
      stored = (await this.#client.send(new UpdateCommand(input))).Attributes ?? {};
    });
    return stored;
  }

  async delete(request: DeleteRequest): Promise<WriteEnd> {
    return write(() => this.#client.send(new DeleteCommand({ TableName: this.#name, ...request })));
  }

  /** Deletes items without a condition, whether they exist or not; repeating it is harmless. */
  async deleteMany(keys: readonly ItemKey[]): Promise<void> {
    for (const chunk of chunksOf(distinct(keys), BATCH_WRITE)) {
      await drain<WriteRequest>(
        chunk.map((key) => ({ DeleteRequest: { Key: key } })),
        async (left) => {
          const answer = await this.#client.send(new BatchWriteCommand({ RequestItems: { [this.#name]: left } }));
          return answer.UnprocessedItems?.[this.#name] ?? [];
        },
      );
    }
  }
}

async function attempt<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw mapTableFailure(error);
  }
}

async function write(work: () => Promise<unknown>): Promise<WriteEnd> {
  try {
    await work();
    return 'done';
  } catch (error) {
    if (isConditionFailed(error)) return 'failed';
    throw mapTableFailure(error);
  }
}

/**
 * Sends what is left until nothing is. An answer over 16 MB leaves keys unprocessed without any throttling, so it goes on
 * while the rest gets smaller, and tries once more where it does not.
 */
async function drain<T>(all: readonly T[], send: (left: T[]) => Promise<readonly T[]>): Promise<void> {
  let left = [...all];
  let stalls = 0;
  while (left.length > 0) {
    const rest = [...(await attempt(() => send(left)))];
    stalls = rest.length < left.length ? 0 : stalls + 1;
    if (stalls > 1) throw throttled(rest.length);
    left = rest;
  }
}

function distinct(keys: readonly ItemKey[]): Record<string, unknown>[] {
  const seen = new Map(keys.map(({ pk, sk }) => [JSON.stringify([pk, sk]), { pk, sk }]));
  return [...seen.values()];
}

function* chunksOf<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
