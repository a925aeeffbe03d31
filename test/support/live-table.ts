import { CreateTableCommand, DeleteTableCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { createTableClient } from '../../adapters/dynamodb/client.ts';
import { DynamoTable, type ItemKey } from '../../adapters/dynamodb/dynamo-table.ts';
import { requireConditions, tableRequest } from './dynalite.ts';
import type { Ground } from './ground.ts';
import { liveName } from './live-name.ts';

/** Seconds. An account takes some ten to make a table. */
const MAX_WAIT = 60;

/** A table at the endpoint for the test file, removed after it. Call it outside of tests. @returns its name */
export function liveTable(): string {
  const TableName = liveName();
  const client = createTableClient();
  beforeAll(async () => {
    await client.send(new CreateTableCommand(tableRequest(TableName)));
    await waitUntilTableExists({ client, maxWaitTime: MAX_WAIT }, { TableName });
    await requireConditions(client, TableName);
  });
  afterAll(async () => {
    await client.send(new DeleteTableCommand({ TableName }));
    client.destroy();
  });
  return TableName;
}

/** Grounds on one table of the test file, emptied before each test: an account is slow to make tables. */
export function liveTableGround<Store>(wire: (table: DynamoTable) => Store): () => Ground<Store> {
  const tableName = liveTable();
  beforeEach(() => emptyTable(tableName));
  return () => ({
    connect() {
      const client = createTableClient();
      return { store: wire(new DynamoTable(client, tableName)), close: () => client.destroy() };
    },
  });
}

async function emptyTable(TableName: string): Promise<void> {
  const client = createTableClient();
  const keys: ItemKey[] = [];
  let start: Record<string, unknown> | undefined;
  do {
    const page = {
      TableName,
      ConsistentRead: true,
      ProjectionExpression: 'pk, sk',
      ...(start && { ExclusiveStartKey: start }),
    };
    const { Items = [], LastEvaluatedKey } = await client.send(new ScanCommand(page));
    keys.push(...Items.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })));
    start = LastEvaluatedKey;
  } while (start !== undefined);
  await new DynamoTable(client, TableName).deleteMany(keys);
  client.destroy();
}
