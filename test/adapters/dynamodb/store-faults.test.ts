import { inspect } from 'node:util';
import { BatchGetCommand, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, describe, expect, it } from 'vitest';
import { createTableClient } from '../../../adapters/dynamodb/client.ts';
import { DynamoTable } from '../../../adapters/dynamodb/dynamo-table.ts';
import { DynamoHeadStore } from '../../../adapters/dynamodb/head-store.ts';
import { DynamoReceiptStore } from '../../../adapters/dynamodb/receipt-store.ts';
import { DynamoSettingsStore } from '../../../adapters/dynamodb/settings-store.ts';
import { DynamoThreadStore } from '../../../adapters/dynamodb/thread-store.ts';
import { DynamoUsageLedger } from '../../../adapters/dynamodb/usage-ledger.ts';
import { openAttribute } from '../../../adapters/dynamodb/usage-requests.ts';
import { DynamoUserTraces } from '../../../adapters/dynamodb/user-traces.ts';
import { DEFAULT_SETTINGS } from '../../../core/settings.ts';
import { toDay } from '../../../core/time.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { NOW, sampleThread } from '../../support/sample-state.ts';

const client = createTableClient({ region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
const wire = mockClient(client);
const table = new DynamoTable(client, 'memories');
const stores = {
  threads: new DynamoThreadStore(table),
  heads: new DynamoHeadStore(table),
  receipts: new DynamoReceiptStore(table),
  ledger: new DynamoUsageLedger(table, new FixedClock(NOW)),
  settings: new DynamoSettingsStore(table),
  traces: new DynamoUserTraces(table),
};
afterEach(() => wire.reset());

type Work = (on: typeof stores) => Promise<unknown>;

const CALL = { purpose: 'extraction', subject: 't', model: 'm', now: NOW, tokens: 1, dailyLimit: 9 } as const;
const TO = { version: 1, publishedAt: NOW, summary: 's', pendingNotes: [], places: [] };

/** Each with how many requests it makes before the one that changes something. */
const WRITES: readonly (readonly [string, number, Work])[] = [
  ['a change of a thread', 1, ({ threads }) => threads.update('u', 't', () => sampleThread({ threadId: 't' }))],
  ['a change of a mode', 0, ({ threads }) => threads.setMemoryMode('u', 't', 'polluted')],
  ['a fence', 0, ({ heads }) => heads.setFence('u', 'f')],
  ['a switch', 0, ({ heads }) => heads.switchTo('u', { from: 0, epoch: 0, fence: 'f', to: TO })],
  ['a reset', 0, ({ heads }) => heads.reset('u')],
  ['a receipt', 0, ({ receipts }) => receipts.keep('u', 'k', { fingerprint: 'f', answer: '{}' }, NOW)],
  ['a reservation', 0, ({ ledger }) => ledger.reserve('u', { ...CALL, callId: 'c' })],
  ['a settlement', 1, ({ ledger }) => ledger.settle('u', 'c', null)],
  ['settings', 0, ({ settings }) => settings.write('u', DEFAULT_SETTINGS)],
  ['an erasure', 1, ({ traces }) => traces.erase('u')],
];
const READS: readonly (readonly [string, Work])[] = [
  ['a thread', ({ threads }) => threads.get('u', 't')],
  ['a page of threads', ({ threads }) => threads.list('u', { limit: 9 })],
  ['marks', ({ threads }) => threads.marks('u')],
  ['named threads', ({ threads }) => threads.getMany('u', ['t'])],
  ['a head', ({ heads }) => heads.read('u')],
  ['a day', ({ ledger }) => ledger.day('u', toDay(NOW))],
  ['settings', ({ settings }) => settings.read('u')],
  ['a count', ({ traces }) => traces.count('u')],
];
const FAULTS = [
  ['ThrottlingException', 'table.throttled'],
  ['ProvisionedThroughputExceededException', 'table.throttled'],
  ['TimeoutError', 'table.unavailable'],
  ['InternalServerError', 'table.unavailable'],
] as const;

function fault(name: string): Error {
  return Object.assign(new Error('secret content'), { name });
}

describe.each(FAULTS)('a table that fails with %s', (name, code) => {
  it.each(WRITES)(
    'fails %s as unavailable after one try of ours, and tells no content',
    async (_what, before, work) => {
      const day = { pk: 'user#u', sk: `usage#${toDay(NOW)}`, [openAttribute('c')]: { tokens: 1, started_at: NOW } };
      wire.rejects(fault(name));
      wire.on(GetCommand).resolves({});
      wire.on(BatchGetCommand).resolves({ Responses: { memories: [day] } });
      wire.on(QueryCommand).resolves({ Items: [{ pk: 'user#u', sk: 'head' }] });
      const failure = await work(stores).catch((error: unknown) => error);
      expect(failure).toMatchObject({ kind: 'unavailable', code });
      expect(inspect(failure, { depth: 9 })).not.toContain('secret');
      expect(wire.calls()).toHaveLength(before + 1);
    },
  );

  it.each(READS)('fails the reading of %s as unavailable', async (_what, work) => {
    wire.rejects(fault(name));
    const failure = await work(stores).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'unavailable', code });
    expect(inspect(failure, { depth: 9 })).not.toContain('secret');
    expect(wire.calls()).toHaveLength(1);
  });
});

it('a batch of which the table leaves a part is asked for again until nothing is left', async () => {
  const item = (at: number) => ({ pk: 'user#u', sk: `usage#2025-10-0${at}` });
  wire
    .on(BatchGetCommand)
    .resolvesOnce({ Responses: { memories: [] }, UnprocessedKeys: { memories: { Keys: [item(8), item(9)] } } })
    .resolvesOnce({ Responses: { memories: [] }, UnprocessedKeys: { memories: { Keys: [item(9)] } } })
    .resolves({ Responses: { memories: [] } });
  await stores.ledger.settle('u', 'c', null);
  expect(wire.calls()).toHaveLength(3);
});
