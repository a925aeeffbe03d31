import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  type DynamoDBClientConfig,
} from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import dynalite from 'dynalite';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { createTableClient } from '../../adapters/dynamodb/client.ts';
import { DynamoTable } from '../../adapters/dynamodb/dynamo-table.ts';
import { DUE_INDEX, DUE_PARTITION_KEY, DUE_SORT_KEY, PARTITION_KEY, SORT_KEY } from '../../adapters/dynamodb/table.ts';
import type { Ground } from './ground.ts';

export interface LocalTable {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  close(): Promise<void>;
}

/** A running emulator, in memory, on a free loopback port. */
export interface Emulator {
  /** For code that makes its own client, which reads it from the environment. */
  readonly endpoint: string;
  /** Another client; close it with `destroy()`. */
  connect(given?: DynamoDBClientConfig): DynamoDBDocumentClient;
  /** Another empty table of storage.md. @returns its name */
  createTable(): Promise<string>;
  close(): Promise<void>;
}

/** The table of storage.md in an emulator of its own, which is closed with it. */
export async function startTable(): Promise<LocalTable> {
  const emulator = await startEmulator();
  const tableName = await emulator.createTable();
  const client = emulator.connect();
  return {
    client,
    tableName,
    async close() {
      client.destroy();
      await emulator.close();
    },
  };
}

/**
 * Starts an emulator and proves that it honours conditions, without which no test on it would mean anything (user case C28).
 */
export async function startEmulator(): Promise<Emulator> {
  const server = dynalite({ createTableMs: 0 });
  const endpoint = await listen(server);
  const connect = (given: DynamoDBClientConfig = {}): DynamoDBDocumentClient =>
    createTableClient({
      endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      ...given,
    });
  const client = connect();
  const emulator: Emulator = {
    endpoint,
    connect,
    createTable: () => createTable(client),
    async close() {
      client.destroy();
      await new Promise<void>((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      });
    },
  };
  try {
    await requireConditions(client, await emulator.createTable());
    return emulator;
  } catch (error) {
    await emulator.close();
    throw error;
  }
}

/**
 * Creates an item twice where it must be absent.
 * @throws Error when the second time is not refused: what stands behind the client ignores conditions
 */
export async function requireConditions(client: DynamoDBDocumentClient, tableName: string): Promise<void> {
  const create = new PutCommand({
    TableName: tableName,
    Item: { [PARTITION_KEY]: 'probe', [SORT_KEY]: randomUUID() },
    ConditionExpression: `attribute_not_exists(${PARTITION_KEY})`,
  });
  await client.send(create);
  const second = await client.send(create).then(
    () => 'accepted',
    (error: unknown) => (error instanceof Error ? error.name : 'unknown'),
  );
  if (second === 'ConditionalCheckFailedException') return;
  throw new Error(`the emulator does not honour conditions: creating an item twice was ${second}`);
}

/** Makes grounds for stores on a table: within a test file, outside of tests. */
export type TableGround = <Store>(wire: (table: DynamoTable) => Store) => () => Ground<Store>;

/**
 * Grounds on tables: one emulator for the test file, a new table for each test. Call it within a test file only, outside of
 * tests; what it answers makes a ground inside a test.
 */
export function tableGround<Store>(wire: (table: DynamoTable) => Store): () => Ground<Store> {
  let emulator: Emulator | undefined;
  let tableName = '';
  beforeAll(async () => {
    emulator = await startEmulator();
  });
  beforeEach(async () => {
    tableName = (await emulator?.createTable()) ?? '';
  });
  afterAll(async () => emulator?.close());
  return () => ({
    connect() {
      if (emulator === undefined) throw new Error('a ground on a table is made inside a test');
      const client = emulator.connect();
      return { store: wire(new DynamoTable(client, tableName)), close: () => client.destroy() };
    },
  });
}

async function createTable(client: DynamoDBDocumentClient): Promise<string> {
  const tableName = `stillroom-${randomUUID()}`;
  await client.send(new CreateTableCommand(tableRequest(tableName)));
  for (;;) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
    if (Table?.TableStatus === 'ACTIVE') return tableName;
  }
}

/** The table of storage.md, as it is deployed. */
export function tableRequest(tableName: string): CreateTableCommandInput {
  const text = (name: string) => ({ AttributeName: name, AttributeType: 'S' }) as const;
  const keys = (partition: string, sort: string) =>
    [
      { AttributeName: partition, KeyType: 'HASH' },
      { AttributeName: sort, KeyType: 'RANGE' },
    ] as const;
  return {
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      text(PARTITION_KEY),
      text(SORT_KEY),
      text(DUE_PARTITION_KEY),
      { AttributeName: DUE_SORT_KEY, AttributeType: 'N' },
    ],
    KeySchema: [...keys(PARTITION_KEY, SORT_KEY)],
    GlobalSecondaryIndexes: [
      {
        IndexName: DUE_INDEX,
        KeySchema: [...keys(DUE_PARTITION_KEY, DUE_SORT_KEY)],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
    ],
  };
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('the emulator has no port'));
      else resolve(`http://127.0.0.1:${address.port}`);
    });
  });
}
