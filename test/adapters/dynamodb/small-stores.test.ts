import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DynamoTable } from '../../../adapters/dynamodb/dynamo-table.ts';
import { DynamoHeadStore } from '../../../adapters/dynamodb/head-store.ts';
import { DynamoReceiptStore } from '../../../adapters/dynamodb/receipt-store.ts';
import { DynamoSettingsStore } from '../../../adapters/dynamodb/settings-store.ts';
import { DynamoThreadStore } from '../../../adapters/dynamodb/thread-store.ts';
import { DynamoUsageLedger } from '../../../adapters/dynamodb/usage-ledger.ts';
import { DynamoUserTraces } from '../../../adapters/dynamodb/user-traces.ts';
import { NO_USAGE } from '../../../core/agent/token-usage.ts';
import { NO_TRACES } from '../../../core/ports/user-traces.ts';
import { LIMITS } from '../../../core/settings.ts';
import { DAY_MS, toDay } from '../../../core/time.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { type Emulator, startEmulator } from '../../support/dynalite.ts';
import { NOW, sampleThread } from '../../support/sample-state.ts';

const DAY = toDay(NOW);
const MIDNIGHT = Date.parse(`${DAY}T00:00:00Z`) + DAY_MS;
const CALL = { purpose: 'extraction', subject: 't', model: 'm', now: NOW, tokens: 60, dailyLimit: 100 } as const;
const USED = { ...NO_USAGE, inputTokens: 7, totalTokens: 7 };

let emulator: Emulator;
let table: DynamoTable;
let clock: FixedClock;
let close: () => void;

beforeAll(async () => {
  emulator = await startEmulator();
});
beforeEach(async () => {
  const client = emulator.connect();
  table = new DynamoTable(client, await emulator.createTable());
  clock = new FixedClock(NOW);
  close = () => client.destroy();
});
afterEach(() => close());
afterAll(() => emulator.close());

const itemOf = (sk: string) => table.get({ pk: 'user#u', sk });

describe('the ledger on a table', () => {
  it('settles a call that began before midnight on the day it began', async () => {
    const ledger = new DynamoUsageLedger(table, clock);
    await ledger.reserve('u', { ...CALL, callId: 'a', now: MIDNIGHT - 1 });
    clock.set(MIDNIGHT + DAY_MS - 1);
    await ledger.settle('u', 'a', USED);
    expect(await ledger.day('u', DAY)).toMatchObject({ calls: 1, usage: USED, reservedTokens: 0 });
    expect(await ledger.day('u', toDay(MIDNIGHT))).toMatchObject({ calls: 0 });
  });

  it('never makes the days of an erased user anew', async () => {
    const ledger = new DynamoUsageLedger(table, clock);
    await ledger.reserve('u', { ...CALL, callId: 'a' });
    const traces = new DynamoUserTraces(table);
    await traces.erase('u');
    await ledger.settle('u', 'a', USED);
    expect(await traces.count('u')).toEqual(NO_TRACES);
  });

  it('does not make them anew either when the user is erased while a call is settled', async () => {
    const ledger = new DynamoUsageLedger(table, clock);
    await ledger.reserve('u', { ...CALL, callId: 'a' });
    const update = table.update.bind(table);
    table.update = async (request) => {
      await new DynamoUserTraces(table).erase('u');
      return update(request);
    };
    await ledger.settle('u', 'a', USED);
    expect(await new DynamoUserTraces(table).count('u')).toEqual(NO_TRACES);
  });

  it('refuses a call over the limit by itself on a day without calls, and makes no item for it', async () => {
    const ledger = new DynamoUsageLedger(table, clock);
    expect(await ledger.reserve('u', { ...CALL, callId: 'a', tokens: 101 })).toEqual({
      kind: 'over_budget',
      usedTokens: 0,
      limit: 100,
    });
    expect(await itemOf(`usage#${DAY}`)).toBeUndefined();
  });

  it('counts a call again that is made again after it was settled', async () => {
    const ledger = new DynamoUsageLedger(table, clock);
    for (let time = 0; time < 2; time++) {
      await ledger.reserve('u', { ...CALL, callId: 'a' });
      await ledger.settle('u', 'a', USED);
    }
    expect(await ledger.day('u', DAY)).toMatchObject({ calls: 2, usage: { inputTokens: 14 } });
  });

  it('takes a day as absent once its 90 days are over, also where its item is still there', async () => {
    const ledger = new DynamoUsageLedger(table, clock);
    await ledger.reserve('u', { ...CALL, callId: 'a' });
    clock.set(MIDNIGHT + 90 * DAY_MS - 1);
    expect(await ledger.day('u', DAY)).toMatchObject({ calls: 1 });
    clock.set(MIDNIGHT + 90 * DAY_MS);
    expect(await ledger.day('u', DAY)).toEqual({ day: DAY, calls: 0, usage: NO_USAGE, reservedTokens: 0 });
    expect(await itemOf(`usage#${DAY}`)).toBeDefined();
  });
});

describe('receipts on a table', () => {
  it('are told apart from those that are over but not removed yet, and live a day', async () => {
    const receipts = new DynamoReceiptStore(table);
    await receipts.keep('u', 'k', { fingerprint: 'f', answer: '{}' }, NOW);
    const [item] = await table.query({
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': 'user#u' },
    });
    expect(item).toMatchObject({ expires_at: (NOW + LIMITS.receiptMs) / 1_000 });
    expect(String(item?.['sk'])).toMatch(/^receipt#[0-9a-f]{64}$/);
  });

  it('refuse an answer that no item holds before anything is done for it (C19)', async () => {
    const receipts = new DynamoReceiptStore(table);
    const keep = (length: number) => receipts.keep('u', 'k', { fingerprint: 'f', answer: 'é'.repeat(length) }, NOW);
    await expect(keep(175 * 1_024 + 1)).rejects.toMatchObject({ kind: 'invalid_input', code: 'receipt.too_large' });
    expect(await keep(175 * 1_024)).toEqual({ kind: 'kept' });
  });
});

describe('the head on a table', () => {
  it('of an erased user cannot be switched by a run from before, and is not made anew (A24)', async () => {
    const heads = new DynamoHeadStore(table);
    const traces = new DynamoUserTraces(table);
    const to = { version: 1, publishedAt: NOW, summary: 's', pendingNotes: [], places: [] };
    await heads.setFence('u', 'f');
    await heads.reset('u');
    await traces.erase('u');
    expect(await heads.switchTo('u', { from: 0, epoch: 0, fence: 'f', to })).toBe('lost');
    expect(await heads.switchTo('u', { from: 5, epoch: 0, fence: null, to })).toBe('lost');
    expect(await traces.count('u')).toEqual(NO_TRACES);
  });

  it('takes a thousand accepted notes and the largest summary in one item, and counts what it had no room for', async () => {
    const heads = new DynamoHeadStore(table);
    const pendingNotes = Array.from({ length: 1_000 }, (_, at) => ({ path: `n${at + 1_000}`, text: '日'.repeat(341) }));
    const summary = 's'.repeat(LIMITS.summaryFileBytes);
    const places = Array.from({ length: 1_000 }, (_, at) => ({ directory: `/d${at}/${'x'.repeat(99)}`, project: 'p' }));
    const to = { version: 1, publishedAt: NOW, summary, pendingNotes, places };
    expect(await heads.switchTo('u', { from: 0, epoch: 0, fence: null, to })).toBe('switched');
    const head = await heads.read('u');
    expect(head.summary).toBe(summary);
    expect(head.pendingNotes).toEqual(pendingNotes.slice(head.notesLeftOut));
    expect(head.notesLeftOut).toBeGreaterThan(600);
  });
});

describe('the catalogue on a table', () => {
  it('gets more threads than one request names', async () => {
    const threads = new DynamoThreadStore(table);
    const ids = Array.from({ length: 230 }, (_, at) => `t${at}`);
    for (let at = 0; at < ids.length; at += 23) {
      const some = ids.slice(at, at + 23);
      await Promise.all(some.map((threadId) => threads.update('u', threadId, () => sampleThread({ threadId }))));
    }
    expect([...(await threads.getMany('u', [...ids, 'unknown'])).keys()]).toEqual(ids);
    expect(await threads.marks('u')).toHaveLength(230);
  });

  it('honours a tombstone that should have been removed long ago (A23)', async () => {
    const threads = new DynamoThreadStore(table);
    await threads.update('u', 't', () => sampleThread({ threadId: 't', forgottenAt: NOW }));
    await table.update({
      Key: { pk: 'user#u', sk: 'thread#t' },
      UpdateExpression: 'SET expires_at = :past',
      ExpressionAttributeValues: { ':past': 1 },
    });
    expect((await threads.get('u', 't'))?.forgottenAt).toBe(NOW);
    expect(await threads.marks('u')).toEqual([]);
  });

  it('is a defect where a change would move a thread to another id', async () => {
    const change = new DynamoThreadStore(table).update('u', 't', () => sampleThread({ threadId: 'other' }));
    await expect(change).rejects.toMatchObject({ kind: 'defect', code: 'thread.id_changed' });
  });

  it('gives up, and changes nothing, where others are always faster', async () => {
    const threads = new DynamoThreadStore(table);
    table.put = async () => 'failed';
    const change = threads.update('u', 't', () => sampleThread({ threadId: 't' }));
    await expect(change).rejects.toMatchObject({ kind: 'unavailable', code: 'thread.contended' });
  });
});

describe('settings on a table', () => {
  it.each([
    ['no JSON', '{secret content'],
    ['no settings', '{"max_unused_days":"secret content"}'],
    ['nothing', undefined],
  ])('that hold %s are a defect that quotes nothing', async (_what, content) => {
    await table.put({ Item: { pk: 'user#u', sk: 'settings', ...(content !== undefined && { content }) } });
    const failure = await new DynamoSettingsStore(table).read('u').catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'defect', code: 'settings.unreadable' });
    expect(failure instanceof Error && [failure.message, failure.cause]).not.toContainEqual(
      expect.stringContaining('secret'),
    );
  });
});
