import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTableClient } from '../../../adapters/dynamodb/client.ts';
import { DynamoDueIndex } from '../../../adapters/dynamodb/due-index.ts';
import { DynamoTable } from '../../../adapters/dynamodb/dynamo-table.ts';
import { putJob } from '../../../adapters/dynamodb/job-requests.ts';
import { DynamoJobStore } from '../../../adapters/dynamodb/job-store.ts';
import { DynamoStageOneStore } from '../../../adapters/dynamodb/stage-one-store.ts';
import { duePartition } from '../../../adapters/dynamodb/table.ts';
import type { JobKey } from '../../../core/job/job.ts';
import { MemoryBodyShelf } from '../../doubles/memory-body-shelf.ts';
import { type Emulator, startEmulator } from '../../support/dynalite.ts';
import { type CommandName, FaultyTable } from '../../support/faulty-table.ts';
import { claimAt, done, extract, extraction, LEASE } from '../../support/job-steps.ts';
import { NOW, sampleJob } from '../../support/sample-state.ts';

const CONSOLIDATION: JobKey = { kind: 'consolidation' };
const BODY = { rawMemory: 'raw', rolloutSummary: 'summary' };
const REF = { threadId: 't', sourceUpdatedAt: 100 };

interface Stores {
  readonly jobs: DynamoJobStore;
  readonly outputs: DynamoStageOneStore;
  readonly due: DynamoDueIndex;
}

/** One operation of a store: what comes before it, the operation, and the command that carries it. */
interface Operation {
  readonly name: string;
  readonly command: CommandName;
  readonly prepare: (stores: Stores) => Promise<unknown>;
  readonly act: (stores: Stores) => Promise<unknown>;
  readonly answer: unknown;
}

const claimed = { kind: 'claimed', token: 'k', inputWatermark: 100, leaseUntil: NOW + LEASE };
const failure = { now: NOW + 1, reason: 'x', outcome: null, retry: 70, spendsRetry: true } as const;
const running = ({ jobs }: Stores) => jobs.claim('u', extraction('t'), claimAt(100, 'k'));
const withOutput = async ({ jobs, outputs }: Stores) => {
  await outputs.putBody('u', REF, BODY);
  await extract(jobs, 't', 100);
};
const found = { userKey: 'u', key: extraction('t'), dueAt: NOW };

const OPERATIONS: readonly Operation[] = [
  {
    name: 'a first claim',
    command: 'PutCommand',
    prepare: async () => undefined,
    act: ({ jobs }) => jobs.claim('u', extraction('t'), claimAt(100, 'k')),
    answer: claimed,
  },
  {
    name: 'a claim of a job that is there',
    command: 'PutCommand',
    prepare: ({ jobs }) => jobs.wake('u', 't', NOW),
    act: ({ jobs }) => jobs.claim('u', extraction('t'), claimAt(100, 'k')),
    answer: claimed,
  },
  {
    name: 'complete',
    command: 'PutCommand',
    prepare: running,
    act: ({ jobs }) => jobs.complete('u', 'k', NOW + 1, done('t', 100)),
    answer: true,
  },
  {
    name: 'fail',
    command: 'PutCommand',
    prepare: running,
    act: ({ jobs }) => jobs.fail('u', extraction('t'), 'k', failure),
    answer: true,
  },
  {
    name: 'heartbeat',
    command: 'UpdateCommand',
    prepare: running,
    act: ({ jobs }) => jobs.heartbeat('u', extraction('t'), 'k', { now: NOW + 5, leaseMs: LEASE }),
    answer: true,
  },
  {
    name: 'enqueue',
    command: 'PutCommand',
    prepare: async () => undefined,
    act: ({ jobs }) => jobs.enqueueConsolidation('u', 100),
    answer: undefined,
  },
  {
    name: 'redrive',
    command: 'PutCommand',
    prepare: async (stores) => {
      await running(stores);
      await stores.jobs.fail('u', extraction('t'), 'k', { ...failure, retry: 'never' });
    },
    act: ({ jobs }) => jobs.redrive('u'),
    answer: ['t'],
  },
  {
    name: 'a citation',
    command: 'UpdateCommand',
    prepare: withOutput,
    act: ({ outputs }) => outputs.recordUsage('u', ['t', 't'], NOW + 5),
    answer: ['t', 't'],
  },
  {
    name: 'a selection mark',
    command: 'UpdateCommand',
    prepare: withOutput,
    act: ({ outputs }) => outputs.markSelected('u', [REF]),
    answer: undefined,
  },
  {
    name: 'the removal of an output',
    command: 'UpdateCommand',
    prepare: withOutput,
    act: ({ outputs }) => outputs.remove('u', [REF], { onlyUnselected: true }),
    answer: 1,
  },
  {
    name: 'the removal of a job',
    command: 'DeleteCommand',
    prepare: withOutput,
    act: async ({ jobs }) => (await jobs.removeExtraction('u', 't'))?.sourceUpdatedAt,
    answer: 100,
  },
  {
    name: 'a postponement',
    command: 'UpdateCommand',
    prepare: ({ jobs }) => jobs.wake('u', 't', NOW),
    act: ({ due }) => due.postpone(found, NOW + 60),
    answer: true,
  },
];

let emulator: Emulator;
let tableName: string;
let sound: Stores;
let faulty: FaultyTable;
let broken: Stores;

function storesOn(table: DynamoTable): Stores {
  return {
    jobs: new DynamoJobStore(table),
    outputs: new DynamoStageOneStore(table, new MemoryBodyShelf()),
    due: new DynamoDueIndex(table),
  };
}

async function freshTable(): Promise<void> {
  const client = emulator.connect();
  tableName = await emulator.createTable();
  sound = storesOn(new DynamoTable(client, tableName));
  faulty = new FaultyTable(client);
  broken = storesOn(new DynamoTable(faulty.client, tableName));
}

/** All that the stores tell of the user. */
async function stateOf({ jobs, outputs, due }: Stores): Promise<unknown> {
  const shard = Number(duePartition('phase1', 'u').split('#')[1]);
  const kinds = ['extraction', 'consolidation'] as const;
  const dueJobs = await Promise.all(
    kinds.map((kind) => due.due({ kind, shard, now: Number.MAX_SAFE_INTEGER, limit: 50, after: null })),
  );
  const bodies = await outputs.bodies('u', [REF]);
  return [
    await jobs.listExtractions('u'),
    await jobs.get('u', CONSOLIDATION),
    await outputs.heads('u'),
    bodies,
    dueJobs,
  ];
}

beforeAll(async () => {
  emulator = await startEmulator();
});
beforeEach(freshTable);
afterEach(() => faulty.requireAllBroken());
afterAll(() => emulator.close());

describe.each(OPERATIONS)('$name', ({ command, prepare, act, answer }) => {
  it('whose reply is lost counts as won, and changes what it changes once (C22)', async () => {
    await prepare(sound);
    expect(await act(sound)).toEqual(answer);
    const expected = await stateOf(sound);
    await freshTable();
    await prepare(sound);
    faulty.break(command, 'repeated');
    expect(await act(broken)).toEqual(answer);
    expect(await stateOf(sound)).toEqual(expected);
  });

  it.each(['throttled', 'silent'] as const)('that is %s changes nothing, and may be repeated (C27)', async (fault) => {
    await prepare(sound);
    const untouched = await stateOf(sound);
    faulty.break(command, fault);
    const failed = await act(broken).catch((error: unknown) => error);
    const code = fault === 'throttled' ? 'table.throttled' : 'table.unavailable';
    expect(failed).toMatchObject({ kind: 'unavailable', retryable: true, code });
    expect(String(failed)).not.toContain('secret');
    expect(await stateOf(sound)).toEqual(untouched);
    expect(await act(broken)).toEqual(answer);
  });

  it('that never gets a reply is told as unavailable, whether it was applied or not', async () => {
    await prepare(sound);
    faulty.break(command, 'lost');
    await expect(act(broken)).rejects.toMatchObject({ kind: 'unavailable', code: 'table.unavailable' });
  });
});

describe('a write whose reply is lost while somebody else writes', () => {
  const key = extraction('t');

  it('is a claim won, known by its token', async () => {
    faulty.break('PutCommand', 'repeated', async () => {
      await sound.jobs.wake('u', 't', NOW + 3);
      await sound.jobs.wake('u', 't', NOW + 2);
      await sound.jobs.heartbeat('u', key, 'k', { now: NOW, leaseMs: LEASE });
    });
    expect(await broken.jobs.claim('u', key, claimAt(100, 'k'))).toEqual(claimed);
    expect(await sound.jobs.get('u', key)).toMatchObject({ attempts: 1, token: 'k', wakeAt: NOW + 2 });
  });

  it('is a commit won, known by the token that the job still carries', async () => {
    await running(sound);
    faulty.break('PutCommand', 'repeated', async () => {
      await sound.outputs.recordUsage('u', ['t'], NOW + 2);
      await sound.jobs.wake('u', 't', NOW + 3);
      await sound.jobs.recordOutcome('u', 't', { kind: 'skipped', reason: 'not_idle' }, NOW + 2);
    });
    expect(await broken.jobs.complete('u', 'k', NOW + 1, done('t', 100))).toBe(true);
    expect(await sound.outputs.head('u', 't')).toMatchObject({ usageCount: 1, sourceUpdatedAt: 100 });
  });

  it('is a commit won, although the next run has the job already', async () => {
    await running(sound);
    faulty.break('PutCommand', 'repeated', () => sound.jobs.claim('u', key, claimAt(101, 'next')));
    expect(await broken.jobs.complete('u', 'k', NOW + 1, done('t', 100))).toBe(true);
    expect(await sound.jobs.get('u', key)).toMatchObject({ status: 'running', token: 'next', successWatermark: 100 });
  });

  it('is a failure recorded once, although the job was revived since', async () => {
    await running(sound);
    faulty.break('PutCommand', 'repeated', async () => {
      await sound.jobs.wake('u', 't', NOW + 9);
      await sound.jobs.wake('u', 't', NOW + 8);
    });
    expect(await broken.jobs.fail('u', key, 'k', failure)).toBe(true);
    expect(await sound.jobs.get('u', key)).toMatchObject({ status: 'error', retryRemaining: 2, attempts: 1 });
  });

  it('is no win of a run that was taken over before it wrote', async () => {
    await running(sound);
    await sound.jobs.claim('u', key, { ...claimAt(100, 'new'), now: NOW + LEASE });
    expect(await broken.jobs.complete('u', 'k', NOW + LEASE, done('t', 100))).toBe(false);
    expect(await sound.outputs.heads('u')).toEqual([]);
  });

  it('is one citation, counted next to those of others', async () => {
    await withOutput(sound);
    faulty.break('UpdateCommand', 'repeated', () => sound.jobs.wake('u', 't', NOW));
    await broken.outputs.recordUsage('u', ['t'], NOW + 5);
    await sound.outputs.recordUsage('u', ['t'], NOW + 6);
    expect(await sound.outputs.head('u', 't')).toMatchObject({ usageCount: 2, lastUsage: NOW + 6 });
  });
});

describe('a call that got no reply, made again', () => {
  const key = extraction('t');

  it('is the same claim under the same token', async () => {
    faulty.break('PutCommand', 'lost');
    await expect(broken.jobs.claim('u', key, claimAt(100, 'k'))).rejects.toMatchObject({ code: 'table.unavailable' });
    expect(await sound.jobs.claim('u', key, claimAt(100, 'other'))).toMatchObject({ reason: 'running' });
    expect(await broken.jobs.claim('u', key, claimAt(100, 'k'))).toEqual(claimed);
    expect(await sound.jobs.get('u', key)).toMatchObject({ attempts: 1 });
  });

  it('finds the commit done, and the thread up to date', async () => {
    await running(sound);
    faulty.break('PutCommand', 'lost');
    const complete = () => broken.jobs.complete('u', 'k', NOW + 1, done('t', 100));
    await expect(complete()).rejects.toMatchObject({ code: 'table.unavailable' });
    expect(await complete()).toBe(false);
    expect(await sound.outputs.head('u', 't')).toMatchObject({ sourceUpdatedAt: 100 });
    expect(await broken.jobs.claim('u', key, claimAt(100, 'k2'))).toMatchObject({ reason: 'up_to_date' });
  });

  it('keeps the consolidation due, at a watermark at least as high', async () => {
    faulty.break('PutCommand', 'lost');
    await expect(broken.jobs.enqueueConsolidation('u', 100)).rejects.toMatchObject({ code: 'table.unavailable' });
    await broken.jobs.enqueueConsolidation('u', 100);
    expect(await sound.jobs.get('u', CONSOLIDATION)).toMatchObject({ status: 'pending', inputWatermark: 101 });
  });
});

describe('an entry of the due index that names no job', () => {
  it('is passed over and counted, on a page of its own too, and keeps no other job back (B17)', async () => {
    const due_pk = duePartition('phase1', 'u');
    const strays = [
      { pk: 'user#u', sk: 'weird', due_pk, due_at: 1 },
      { pk: 'nobody', sk: 'stage1#t', due_pk, due_at: 2 },
    ];
    for (const Item of strays) await emulator.connect().send(new PutCommand({ TableName: tableName, Item }));
    await sound.jobs.wake('u', 't', NOW);
    const shard = Number(due_pk.split('#')[1]);
    const query = { kind: 'extraction', shard, now: NOW, after: null } as const;
    const wanted = [{ userKey: 'u', key: extraction('t'), dueAt: NOW }];
    expect(await sound.due.due({ ...query, limit: 10 })).toEqual({ jobs: wanted, unreadable: 2, next: null });
    const first = await sound.due.due({ ...query, limit: 2 });
    expect(first).toMatchObject({ jobs: [], unreadable: 2 });
    expect(await sound.due.due({ ...query, limit: 2, after: first.next })).toMatchObject({
      jobs: wanted,
      unreadable: 0,
    });
  });
});

describe('reads that fail', () => {
  it('are unavailable, and write nothing', async () => {
    await withOutput(sound);
    const untouched = await stateOf(sound);
    faulty.break('GetCommand', 'silent');
    await expect(broken.jobs.claim('u', extraction('t'), claimAt(101, 'k'))).rejects.toMatchObject({
      code: 'table.unavailable',
    });
    faulty.break('QueryCommand', 'throttled');
    await expect(broken.outputs.heads('u')).rejects.toMatchObject({ code: 'table.throttled' });
    expect(await stateOf(sound)).toEqual(untouched);
  });
});

describe('a reset that breaks off', () => {
  it('is finished by another one', async () => {
    for (let at = 0; at < 30; at++) await sound.jobs.wake('u', `t${at}`, NOW);
    await sound.jobs.enqueueConsolidation('u', 100);
    faulty.break('BatchWriteCommand', 'lost');
    await expect(broken.jobs.clear('u')).rejects.toMatchObject({ code: 'table.unavailable' });
    expect((await sound.jobs.listExtractions('u')).size).toBeLessThan(30);
    await broken.jobs.clear('u');
    expect(await sound.jobs.listExtractions('u')).toEqual(new Map());
    expect(await sound.jobs.get('u', CONSOLIDATION)).toBeUndefined();
  });
});

describe('a job that somebody else always writes first', () => {
  it('is given up as unavailable, not fought over for ever', async () => {
    const client = createTableClient({ region: 'us-east-1' });
    const mock = mockClient(client);
    const stored = putJob(
      { userKey: 'u', key: extraction('t') },
      { job: sampleJob(), head: null },
      undefined,
      'w',
    ).Item;
    mock.on(GetCommand).resolves(stored === undefined ? {} : { Item: stored });
    const refusal = Object.assign(new Error('?'), { name: 'ConditionalCheckFailedException' });
    mock.on(PutCommand).rejects(refusal).on(DeleteCommand).rejects(refusal);
    const { jobs } = storesOn(new DynamoTable(client, 'memories'));
    const contended = { kind: 'unavailable', code: 'table.contended', details: { rounds: 60 } };
    await expect(jobs.claim('u', extraction('t'), claimAt(100, 'k'))).rejects.toMatchObject(contended);
    await expect(jobs.removeExtraction('u', 't')).rejects.toMatchObject(contended);
    expect(mock.commandCalls(PutCommand)).toHaveLength(60);
  });
});
