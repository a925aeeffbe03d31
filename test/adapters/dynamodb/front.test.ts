import { BatchGetCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, describe, expect, it } from 'vitest';
import { createTableClient } from '../../../adapters/dynamodb/client.ts';
import { DynamoTable } from '../../../adapters/dynamodb/dynamo-table.ts';
import { DynamoFront } from '../../../adapters/dynamodb/front.ts';
import { DynamoHeadStore } from '../../../adapters/dynamodb/head-store.ts';
import { DynamoSettingsStore } from '../../../adapters/dynamodb/settings-store.ts';
import { DEFAULT_SETTINGS } from '../../../core/settings.ts';
import { readWorld } from '../../functions/read/read-world.ts';

const client = createTableClient({ region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
const wire = mockClient(client);
const front = new DynamoFront(new DynamoTable(client, 'memories'));
const heads = new DynamoHeadStore(new DynamoTable(client, 'memories'), front);
const settings = new DynamoSettingsStore(new DynamoTable(client, 'memories'), front);
afterEach(() => wire.reset());

const HEAD = { pk: 'user#u', sk: 'head' };
const SETTINGS = { pk: 'user#u', sk: 'settings' };
const requests = () => wire.calls().map((call) => [call.args[0].constructor.name, call.args[0].input]);

describe('reads of single items', () => {
  it('travel as one consistent request when they are asked for together', async () => {
    wire.on(BatchGetCommand).resolves({
      Responses: {
        memories: [
          { ...SETTINGS, content: '{"max_unused_days":7}' },
          { ...HEAD, version: 3 },
        ],
      },
    });
    const [head, found] = await Promise.all([heads.read('u'), settings.read('u')]);
    expect([head.version, found.maxUnusedDays]).toEqual([3, 7]);
    expect(requests()).toEqual([
      ['BatchGetCommand', { RequestItems: { memories: { Keys: [HEAD, SETTINGS], ConsistentRead: true } } }],
    ]);
  });

  it('are a plain get each when they are asked for one after the other', async () => {
    wire.on(GetCommand).resolves({});
    await heads.read('u');
    await settings.read('u');
    const get = (Key: unknown) => ['GetCommand', { TableName: 'memories', Key, ConsistentRead: true }];
    expect(requests()).toEqual([get(HEAD), get(SETTINGS)]);
  });

  it('are one read for the same item asked for twice at once, and a new one later', async () => {
    wire.on(GetCommand).resolves({ Item: { ...HEAD, version: 3 } });
    const read = async () => (await heads.read('u')).version;
    expect(await Promise.all([read(), read()])).toEqual([3, 3]);
    expect(requests()).toHaveLength(1);
    wire.on(GetCommand).resolves({ Item: { ...HEAD, version: 4 } });
    expect(await read()).toBe(4);
  });

  it('give each asker its own item, and nothing where there is none', async () => {
    wire.on(BatchGetCommand).resolves({
      Responses: {
        memories: [
          { pk: 'user#user10', sk: 'head', version: 10 },
          { pk: 'user#user1', sk: 'head', version: 1 },
        ],
      },
    });
    const users = ['user1', 'user10', 'user'];
    const versions = await Promise.all(users.map(async (user) => (await heads.read(user)).version));
    expect(versions).toEqual([1, 10, 0]);
  });

  it('all fail with the request, and the next ones do not', async () => {
    const throttle = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
    wire.on(BatchGetCommand).rejects(throttle);
    const ends = await Promise.allSettled([heads.read('u'), settings.read('u')]);
    for (const end of ends) expect(end).toMatchObject({ status: 'rejected', reason: { code: 'table.throttled' } });
    wire.on(BatchGetCommand).resolves({ Responses: { memories: [] } });
    expect((await Promise.all([heads.read('u'), settings.read('u')]))[1]).toEqual(DEFAULT_SETTINGS);
  });
});

it('GET /v1/memory costs one request to the table and nothing else', async () => {
  const head = { pk: 'user#user-1', sk: 'head', version: 1, summary: 'v1\n\n# All\n' };
  wire.on(BatchGetCommand).resolves({ Responses: { memories: [head] } });
  const { ask } = readWorld({ heads, settings: (userKey) => settings.read(userKey) });
  const answer = await ask('/v1/memory');
  expect([answer.status, answer.json]).toMatchObject([200, { enabled: true, version: 1 }]);
  expect(requests().map(([name]) => name)).toEqual(['BatchGetCommand']);
});
