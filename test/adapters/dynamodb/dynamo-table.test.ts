import { createServer } from 'node:http';
import { BatchGetCommand, BatchWriteCommand, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTableClient } from '../../../adapters/dynamodb/client.ts';
import { DynamoTable, type ItemKey } from '../../../adapters/dynamodb/dynamo-table.ts';
import { type Emulator, requireConditions, startEmulator, startTable } from '../../support/dynalite.ts';

function keys(count: number, length = 0): ItemKey[] {
  return Array.from({ length: count }, (_, at) => ({ pk: 'p', sk: String(at).padStart(length, '0') }));
}

function named(name: string): Error {
  return Object.assign(new Error('secret content'), { name });
}

describe('the table on the wire', () => {
  let emulator: Emulator;
  let table: DynamoTable;
  beforeAll(async () => {
    emulator = await startEmulator();
  });
  beforeEach(async () => {
    table = new DynamoTable(emulator.connect(), await emulator.createTable());
  });
  afterAll(() => emulator.close());

  it('answers whether the condition of a write held', async () => {
    const put = { Item: { pk: 'p', sk: 's', n: 1 }, ConditionExpression: 'attribute_not_exists(pk)' };
    expect([await table.put(put), await table.put(put)]).toEqual(['done', 'failed']);
    const raise = {
      Key: { pk: 'p', sk: 's' },
      UpdateExpression: 'SET n = :new',
      ConditionExpression: 'n = :old',
      ExpressionAttributeValues: { ':old': 1, ':new': 2 },
    };
    expect([await table.update(raise), await table.update(raise)]).toEqual(['done', 'failed']);
    expect(await table.get({ pk: 'p', sk: 's' })).toEqual({ pk: 'p', sk: 's', n: 2 });
    const drop = {
      Key: { pk: 'p', sk: 's' },
      ConditionExpression: 'n = :n',
      ExpressionAttributeValues: { ':n': 1 },
    };
    expect(await table.delete(drop)).toBe('failed');
    expect(await table.delete({ ...drop, ExpressionAttributeValues: { ':n': 2 } })).toBe('done');
    expect(await table.get({ pk: 'p', sk: 's' })).toBeUndefined();
  });

  it('answers the item after an update, and nothing after one whose condition failed', async () => {
    const update = {
      Key: { pk: 'p', sk: 's' },
      UpdateExpression: 'ADD n :one',
      ConditionExpression: 'attribute_not_exists(n)',
      ExpressionAttributeValues: { ':one': 1 },
    };
    expect(await table.updateAndRead(update)).toEqual({ pk: 'p', sk: 's', n: 1 });
    expect(await table.updateAndRead(update)).toBeUndefined();
  });

  it('reads all pages of a range, or as many items as asked for, in the order of their bytes', async () => {
    const long = 'x'.repeat(300_000);
    for (const key of keys(8)) await table.put({ Item: { ...key, long } });
    await table.put({ Item: { pk: 'other', sk: '3' } });
    const range = {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': 'p' },
      ProjectionExpression: 'sk',
      ConsistentRead: true,
    };
    expect((await table.queryPage(range)).next).toBeDefined();
    expect(await table.query(range)).toEqual(keys(8).map(({ sk }) => ({ sk })));
    expect(await table.query(range, 5)).toEqual(keys(5).map(({ sk }) => ({ sk })));
    expect(await table.query(range, 9)).toHaveLength(8);
  });

  it('gets and deletes more items than one request holds, repeated and missing keys included', async () => {
    for (const key of keys(130, 3)) await table.put({ Item: key });
    const asked = [...keys(130, 3), ...keys(2, 3), { pk: 'p', sk: 'missing' }];
    const found = await table.batchGet(asked);
    expect(found.map((item) => item['sk']).sort()).toEqual(keys(130, 3).map(({ sk }) => sk));
    await table.deleteMany(asked);
    expect(await table.batchGet(asked)).toEqual([]);
    expect(await table.batchGet([])).toEqual([]);
  });

  it('gets more than the 16 MB that one answer holds', async () => {
    const long = new Uint8Array(390_000);
    const wanted = keys(50, 2);
    await Promise.all(wanted.map((key) => table.put({ Item: { ...key, long } })));
    expect(await table.batchGet(wanted)).toHaveLength(50);
  });

  it('sends no undefined: an attribute is left out, a part of one is refused', async () => {
    const key = { pk: 'p', sk: 's' };
    await expect(table.put({ Item: { ...key, map: { gone: undefined } } })).rejects.toMatchObject({
      code: 'table.failed',
    });
    expect(await table.get(key)).toBeUndefined();
    await table.put({ Item: { ...key, gone: undefined } });
    expect(await table.get(key)).toEqual(key);
  });

  it('names a table that is not there, and a request that is refused, without what was written', async () => {
    const missing = new DynamoTable(emulator.connect(), 'no-such-table');
    await expect(missing.get({ pk: 'p', sk: 's' })).rejects.toMatchObject({ kind: 'defect', code: 'table.missing' });
    const large = table.put({ Item: { pk: 'p', sk: 's', text: 'secret content '.repeat(30_000) } });
    await expect(large).rejects.toMatchObject({ kind: 'defect', code: 'table.request_refused' });
    expect(((await large.catch((error: unknown) => error)) as Error).cause).toBeUndefined();
    await expect(large).rejects.not.toThrow(/secret/);
  });
});

describe('an emulator', () => {
  it('that ignores conditions is refused before any test may trust it (C28)', async () => {
    const client = createTableClient({ region: 'us-east-1' });
    const blind = mockClient(client);
    blind.on(PutCommand).resolves({});
    await expect(requireConditions(client, 'memories')).rejects.toThrow('does not honour conditions');
    blind.restore();
  });

  it('with the table of storage.md starts and closes', async () => {
    const local = await startTable();
    expect(await new DynamoTable(local.client, local.tableName).get({ pk: 'p', sk: 's' })).toBeUndefined();
    await local.close();
    await expect(new DynamoTable(local.client, local.tableName).get({ pk: 'p', sk: 's' })).rejects.toMatchObject({
      kind: 'unavailable',
    });
  });
});

describe('failures of the table', () => {
  const client = createTableClient({ region: 'us-east-1' });
  const fault = mockClient(client);
  const table = new DynamoTable(client, 'memories');
  afterEach(() => fault.reset());

  it.each([
    ['ProvisionedThroughputExceededException', 'unavailable', 'table.throttled'],
    ['ThrottlingException', 'unavailable', 'table.throttled'],
    ['RequestLimitExceeded', 'unavailable', 'table.throttled'],
    ['InternalServerError', 'unavailable', 'table.unavailable'],
    ['TimeoutError', 'unavailable', 'table.unavailable'],
    ['AccessDeniedException', 'defect', 'table.denied'],
    ['ResourceNotFoundException', 'defect', 'table.missing'],
    ['ValidationException', 'defect', 'table.request_refused'],
    ['SomethingNew', 'defect', 'table.failed'],
  ])('%s is %s, %s, and tells nothing of the content (C27)', async (name, kind, code) => {
    fault.on(UpdateCommand).rejects(named(name));
    const failure = await table.update({ Key: { pk: 'p', sk: 's' } }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind, code, details: { aws_error: name } });
    expect(JSON.stringify([failure, String(failure), (failure as Error).cause])).not.toContain('secret');
  });

  it('a broken connection and a server fault without a name are unavailable', async () => {
    const reset = Object.assign(new Error('socket'), { code: 'ECONNRESET' });
    const broken = Object.assign(new Error('?'), { $metadata: { httpStatusCode: 502, requestId: 'r1' } });
    fault.on(GetCommand).rejectsOnce(reset).rejectsOnce(broken);
    const key = { pk: 'p', sk: 's' };
    await expect(table.get(key)).rejects.toMatchObject({ code: 'table.unavailable' });
    await expect(table.get(key)).rejects.toMatchObject({ details: { status: 502, request_id: 'r1' } });
  });

  it('what a batch leaves unprocessed is asked for again, until nothing moves twice', async () => {
    const [first, second] = keys(2);
    const rest = (left: ItemKey | undefined) => ({ UnprocessedKeys: { memories: { Keys: [{ ...left }] } } });
    fault
      .on(BatchGetCommand)
      .resolvesOnce({ Responses: { memories: [{ ...first }] }, ...rest(second) })
      .resolvesOnce(rest(second))
      .resolvesOnce({ Responses: { memories: [{ ...second }] } });
    expect(await table.batchGet(keys(2))).toEqual(keys(2));
    fault.on(BatchGetCommand).resolves(rest(second));
    await expect(table.batchGet(keys(2))).rejects.toMatchObject({ code: 'table.throttled', details: { left: 1 } });
    fault.on(BatchWriteCommand).callsFake((input) => ({ UnprocessedItems: input.RequestItems }));
    await expect(table.deleteMany(keys(2))).rejects.toMatchObject({ code: 'table.throttled' });
  });

  it('an endpoint that never answers is given up after two tries', async () => {
    let requests = 0;
    const silent = createServer(() => {
      requests += 1;
    });
    const port = await new Promise<number>((resolve) => {
      silent.listen(0, '127.0.0.1', () => {
        const address = silent.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
    const hanging = createTableClient({
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      requestHandler: { requestTimeout: 30, throwOnRequestTimeout: true },
    });
    const reading = new DynamoTable(hanging, 'memories').get({ pk: 'p', sk: 's' });
    await expect(reading).rejects.toMatchObject({ kind: 'unavailable', code: 'table.unavailable' });
    expect(requests).toBe(2);
    hanging.destroy();
    silent.closeAllConnections();
    silent.close();
  });
});
