import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { DynamoTable } from '../../../adapters/dynamodb/dynamo-table.ts';
import { rangeOf } from '../../../adapters/dynamodb/requests.ts';
import { DynamoStepRunner } from '../../../adapters/dynamodb/step-runner.ts';
import { DAY_MS } from '../../../core/time.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { type LocalTable, startTable } from '../../support/dynalite.ts';
import { NOW } from '../../support/sample-state.ts';

let local: LocalTable;
let table: DynamoTable;
beforeAll(async () => {
  local = await startTable();
  table = new DynamoTable(local.client, local.tableName);
});
afterAll(() => local.close());

const runnerOf = (userKey: string, clock = new FixedClock(NOW)) => new DynamoStepRunner(table, userKey, clock);
const refuseWork = (): Promise<never> => Promise.reject(new Error('the step was done again'));

describe('steps kept in the table', () => {
  it('B17 are those of one user', async () => {
    await runnerOf('u1').run('r', 's', z.string(), async () => 'of u1');
    expect(await runnerOf('u10').run('r', 's', z.string(), async () => 'of u10')).toBe('of u10');
    await runnerOf('u10').finish('r');
    expect(await runnerOf('u1').run('r', 's', z.string(), refuseWork)).toBe('of u1');
  });

  it('are forgotten two days later, also where the table has not removed them yet', async () => {
    const clock = new FixedClock(NOW);
    const steps = runnerOf('u2', clock);
    await steps.run('r', 's', z.number(), async () => 1);
    clock.advance(2 * DAY_MS - 1_000);
    expect(await steps.run('r', 's', z.number(), refuseWork)).toBe(1);
    clock.advance(2_000);
    expect(await steps.run('r', 's', z.number(), async () => 2)).toBe(2);
    expect(await steps.run('r', 's', z.number(), refuseWork)).toBe(2);
  });

  it('are small for a long text, and not kept when nothing makes them small enough', async () => {
    const steps = runnerOf('u3');
    const long = 'a line of a memory\n'.repeat(100_000);
    await steps.run('r', 'long', z.string(), async () => long);
    expect(await steps.run('r', 'long', z.string(), refuseWork)).toBe(long);
    const noise = Array.from({ length: 600_000 }, (_, at) => Math.abs(Math.trunc(Math.sin(at) * 1e9)) % 256);
    const random = Buffer.from(noise).toString('base64');
    expect(await steps.run('r', 'random', z.string(), async () => random)).toBe(random);
    expect(await steps.run('r', 'random', z.string(), async () => 'again')).toBe('again');
  });

  it('are done again once after an item that was damaged', async () => {
    const steps = runnerOf('u4');
    await steps.run('r', 's', z.number(), async () => 1);
    const [item] = await table.query(rangeOf('u4', ''));
    const damaged = { ...item, answer: new Uint8Array([1, 2, 3]) };
    await local.client.send(new PutCommand({ TableName: local.tableName, Item: damaged }));
    await expect(steps.run('r', 's', z.number(), refuseWork)).rejects.toMatchObject({
      code: 'table.item_unreadable',
      details: { item: 'answer' },
    });
    expect(await steps.run('r', 's', z.number(), async () => 5)).toBe(5);
  });

  it('count as kept where the reply to the write was lost', async () => {
    const lossy = new DynamoTable(local.client, local.tableName);
    const put = lossy.put.bind(lossy);
    lossy.put = async (request) => {
      await put(request);
      return put(request); // as the SDK does after a reply that never came
    };
    const steps = new DynamoStepRunner(lossy, 'u5', new FixedClock(NOW));
    expect(await steps.run('r', 's', z.number(), async () => 7)).toBe(7);
  });
});
