import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DynamoTable } from '../../../adapters/dynamodb/dynamo-table.ts';
import { DynamoHeadStore } from '../../../adapters/dynamodb/head-store.ts';
import { DynamoReceiptStore } from '../../../adapters/dynamodb/receipt-store.ts';
import { DynamoSettingsStore } from '../../../adapters/dynamodb/settings-store.ts';
import { DynamoThreadStore } from '../../../adapters/dynamodb/thread-store.ts';
import { DynamoUsageLedger } from '../../../adapters/dynamodb/usage-ledger.ts';
import { DynamoUserTraces } from '../../../adapters/dynamodb/user-traces.ts';
import { NO_USAGE } from '../../../core/agent/token-usage.ts';
import type { SwitchRequest } from '../../../core/ports/head-store.ts';
import { NO_TRACES } from '../../../core/ports/user-traces.ts';
import { DEFAULT_SETTINGS } from '../../../core/settings.ts';
import { toDay } from '../../../core/time.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { type Emulator, startEmulator } from '../../support/dynalite.ts';
import { type LostReplies, loseReplies } from '../../support/lost-replies.ts';
import { NOW, sampleThread } from '../../support/sample-state.ts';

const DAY = toDay(NOW);
const CALL = { purpose: 'extraction', subject: 't', model: 'm', now: NOW, tokens: 60, dailyLimit: 100 } as const;

function switchFrom(from: number, version: number, fence: string | null = null): SwitchRequest {
  return {
    from,
    epoch: 0,
    fence,
    to: { version, publishedAt: NOW, summary: `v${version}`, pendingNotes: [], places: [] },
  };
}

let emulator: Emulator;
/** A client whose replies get lost, and one of somebody else on the same table. */
let table: DynamoTable;
let elsewhere: DynamoTable;
let replies: LostReplies;
let close: () => void;

beforeAll(async () => {
  emulator = await startEmulator();
});
beforeEach(async () => {
  const name = await emulator.createTable();
  const [client, other] = [emulator.connect(), emulator.connect()];
  replies = loseReplies(client);
  table = new DynamoTable(client, name);
  elsewhere = new DynamoTable(other, name);
  close = () => {
    client.destroy();
    other.destroy();
  };
});
afterEach(() => close());
afterAll(() => emulator.close());

describe('a write that was applied although its reply got lost (C22)', () => {
  it('counts as a new thread stored, and as a thread changed', async () => {
    const threads = new DynamoThreadStore(table);
    const thread = sampleThread({ threadId: 't' });
    replies.lose(1);
    expect(await threads.update('u', 't', () => thread)).toEqual(thread);
    replies.lose(1);
    const raise = (stored = thread) => ({ ...stored, requestedAt: (stored.requestedAt ?? 0) + 1 });
    expect((await threads.update('u', 't', raise))?.requestedAt).toBe(1);
    expect((await threads.get('u', 't'))?.requestedAt).toBe(1);
    expect(replies.lost).toEqual(['PutItemCommand', 'PutItemCommand']);
  });

  it('counts as a mode that was changed by this call, once', async () => {
    const threads = new DynamoThreadStore(table);
    await threads.update('u', 't', () => sampleThread({ threadId: 't' }));
    replies.lose(1);
    expect(await threads.setMemoryMode('u', 't', 'polluted')).toBe(true);
    expect(await threads.setMemoryMode('u', 't', 'polluted')).toBe(false);
    expect(replies.lost).toHaveLength(1);
  });

  it("is not taken for somebody else's change of the mode", async () => {
    const threads = new DynamoThreadStore(table);
    await threads.update('u', 't', () => sampleThread({ threadId: 't', memoryMode: 'polluted' }));
    replies.lose(1);
    expect(await threads.setMemoryMode('u', 't', 'polluted')).toBe(false);
    expect(replies.lost).toHaveLength(1);
  });

  it('counts as a head switched, with and without a fence', async () => {
    const heads = new DynamoHeadStore(table);
    replies.lose(1);
    expect(await heads.setFence('u', 'f')).toMatchObject({ fence: 'f', version: 0 });
    replies.lose(1);
    expect(await heads.switchTo('u', switchFrom(0, 1, 'f'))).toBe('switched');
    replies.lose(1);
    expect(await heads.switchTo('u', switchFrom(1, 2))).toBe('switched');
    expect(await heads.read('u')).toMatchObject({ version: 2, summary: 'v2', fence: 'f' });
    expect(replies.lost).toHaveLength(3);
  });

  it('is lost where somebody else has switched on from it: the publisher then finds that the head is built on it', async () => {
    const heads = new DynamoHeadStore(table);
    replies.lose(1, async () => {
      expect(await new DynamoHeadStore(elsewhere).switchTo('u', switchFrom(1, 2))).toBe('switched');
    });
    expect(await heads.switchTo('u', switchFrom(0, 1))).toBe('lost');
    expect(await heads.read('u')).toMatchObject({ version: 2 });
  });

  it('raises the epoch of a reset once', async () => {
    const heads = new DynamoHeadStore(table);
    await heads.switchTo('u', switchFrom(0, 1));
    replies.lose(1);
    expect(await heads.reset('u')).toMatchObject({ version: 0, epoch: 1 });
    expect(await heads.read('u')).toMatchObject({ version: 0, summary: '', epoch: 1 });
  });

  it('reserves a call once', async () => {
    const ledger = new DynamoUsageLedger(table, new FixedClock(NOW));
    replies.lose(1);
    expect(await ledger.reserve('u', { ...CALL, callId: 'a' })).toEqual({ kind: 'reserved' });
    expect(await ledger.day('u', DAY)).toMatchObject({ calls: 1, reservedTokens: 60 });
    expect(await ledger.reserve('u', { ...CALL, callId: 'b' })).toEqual({
      kind: 'over_budget',
      usedTokens: 60,
      limit: 100,
    });
  });

  it('settles a call once', async () => {
    const ledger = new DynamoUsageLedger(table, new FixedClock(NOW));
    await ledger.reserve('u', { ...CALL, callId: 'a' });
    replies.lose(1);
    await ledger.settle('u', 'a', { ...NO_USAGE, inputTokens: 7, totalTokens: 7 });
    expect(replies.lost).toEqual(['UpdateItemCommand']);
    expect(await ledger.day('u', DAY)).toMatchObject({ usage: { inputTokens: 7 }, reservedTokens: 0 });
    expect(await ledger.reserve('u', { ...CALL, callId: 'b', tokens: 93 })).toEqual({ kind: 'reserved' });
  });

  it('keeps a receipt for the caller that wrote it', async () => {
    const receipts = new DynamoReceiptStore(table);
    const receipt = { fingerprint: 'f', answer: '{}' };
    replies.lose(1);
    expect(await receipts.keep('u', 'k', receipt, NOW)).toEqual({ kind: 'kept' });
    expect(await receipts.keep('u', 'k', receipt, NOW)).toEqual({ kind: 'present', receipt });
  });

  it('stores settings and erases a user all the same', async () => {
    const settings = new DynamoSettingsStore(table);
    replies.lose(1);
    await settings.write('u', { ...DEFAULT_SETTINGS, maxUnusedDays: 7 });
    expect((await settings.read('u')).maxUnusedDays).toBe(7);
    const traces = new DynamoUserTraces(table);
    replies.lose(1);
    expect(await traces.erase('u')).toEqual({ ...NO_TRACES, items: 1 });
    expect(await traces.count('u')).toEqual(NO_TRACES);
    expect(replies.lost).toEqual(['PutItemCommand', 'BatchWriteItemCommand']);
  });

  it('fails as unavailable when the second reply is lost as well, and a repetition finds it done', async () => {
    const ledger = new DynamoUsageLedger(table, new FixedClock(NOW));
    replies.lose(2);
    const reserve = () => ledger.reserve('u', { ...CALL, callId: 'a' });
    await expect(reserve()).rejects.toMatchObject({ kind: 'unavailable', code: 'table.unavailable' });
    expect(replies.lost).toHaveLength(2);
    expect(await reserve()).toEqual({ kind: 'reserved' });
    expect(await ledger.day('u', DAY)).toMatchObject({ calls: 1, reservedTokens: 60 });
  });
});
