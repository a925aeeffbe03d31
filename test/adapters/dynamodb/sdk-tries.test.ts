import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DynamoTable } from '../../../adapters/dynamodb/dynamo-table.ts';
import { DynamoJobStore } from '../../../adapters/dynamodb/job-store.ts';
import { type Emulator, startEmulator } from '../../support/dynalite.ts';
import { claimAt, extraction } from '../../support/job-steps.ts';

const key = extraction('t');
const TIMEOUT = { name: 'TimeoutError', applied: true };
const THROTTLED = { name: 'ThrottlingException', applied: false };

let emulator: Emulator;
let tableName: string;
beforeAll(async () => {
  emulator = await startEmulator();
});
beforeEach(async () => {
  tableName = await emulator.createTable();
});
afterAll(() => emulator.close());

/**
 * A store over a client whose first writes go wrong beneath the SDK's own retry, as on a network.
 * @param faults one for each try: the error that the SDK sees, and whether the write reached the table
 */
function storeWith(faults: { readonly name: string; readonly applied: boolean }[]): {
  readonly jobs: DynamoJobStore;
  writes: () => number;
} {
  const client = emulator.connect();
  let writes = 0;
  client.middlewareStack.add(
    (next, context) => async (args) => {
      if (context.commandName !== 'PutItemCommand') return next(args);
      writes += 1;
      const fault = faults.shift();
      if (fault === undefined) return next(args);
      if (fault.applied) await next(args).catch((refusal: unknown) => refusal); // no answer of any kind arrives
      throw Object.assign(new Error('?'), { name: fault.name });
    },
    { step: 'finalizeRequest', priority: 'low', name: 'faults' },
  );
  return { jobs: new DynamoJobStore(new DynamoTable(client, tableName)), writes: () => writes };
}

describe('the SDK beneath a store', () => {
  it('repeats a throttled write once', async () => {
    const { jobs, writes } = storeWith([THROTTLED]);
    expect(await jobs.claim('u', key, claimAt(100, 'k'))).toMatchObject({ kind: 'claimed' });
    expect(writes()).toBe(2);
  });

  it('gives up when it is throttled twice, and nothing was written', async () => {
    const { jobs, writes } = storeWith([THROTTLED, THROTTLED]);
    await expect(jobs.claim('u', key, claimAt(100, 'k'))).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'table.throttled',
    });
    expect(writes()).toBe(2);
    expect(await jobs.get('u', key)).toBeUndefined();
  });

  it('repeats a write whose reply was lost, and the store knows the first one again (C22)', async () => {
    const { jobs, writes } = storeWith([TIMEOUT]);
    expect(await jobs.claim('u', key, claimAt(100, 'k'))).toMatchObject({ kind: 'claimed', token: 'k' });
    expect(writes()).toBe(2);
    expect(await jobs.get('u', key)).toMatchObject({ status: 'running', token: 'k', attempts: 1 });
    expect(await jobs.claim('u', key, claimAt(100, 'other'))).toMatchObject({ reason: 'running' });
  });

  it('gives up when no reply comes twice, and the claim made again is the same one', async () => {
    const { jobs, writes } = storeWith([TIMEOUT, TIMEOUT]);
    await expect(jobs.claim('u', key, claimAt(100, 'k'))).rejects.toMatchObject({ code: 'table.unavailable' });
    expect(writes()).toBe(2);
    expect(await jobs.claim('u', key, claimAt(100, 'k'))).toMatchObject({ kind: 'claimed' });
    expect(await jobs.get('u', key)).toMatchObject({ attempts: 1 });
  });
});
