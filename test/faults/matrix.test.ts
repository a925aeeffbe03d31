import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../simulation/random.ts';
import { startEmulator } from '../support/dynalite.ts';
import { nameCommand } from './call-name.ts';
import type { Fault, NumberedCall } from './fault-point.ts';
import { type Command, intercept } from './intercept.ts';
import { listCalls, plansFor, runCell, sampleOf, toRows } from './matrix.ts';
import { runPath } from './path.ts';
import { printMatrix } from './print-matrix.ts';
import { startProvider } from './provider.ts';
import type { Ground } from './world.ts';

let ground: Ground;
let calls: readonly NumberedCall[];
let answers: number;

beforeAll(async () => {
  const [emulator, provider] = await Promise.all([startEmulator(), startProvider()]);
  ground = { emulator, provider };
  ({ calls, answers } = await listCalls(ground));
});
afterAll(async () => {
  await Promise.all([ground.emulator.close(), ground.provider.close()]);
});

/** The same ground, with a table that does something else with some commands. */
function brokenTable(
  through: (name: string, command: Command, send: () => Promise<unknown>) => Promise<unknown>,
): Ground {
  return {
    ...ground,
    change: (services) => ({
      ...services,
      table: intercept(services.table, (command, send) => through(nameCommand(command), command, send)),
    }),
  };
}

/** A table that says that it has written, and has not. */
function forgetting(lost: string): Ground {
  return brokenTable((name, _command, send) => (name === lost ? Promise.resolve({}) : send()));
}

describe('a cell of the fault matrix', () => {
  it.each<[string, Fault]>([
    ['control PutItem consolidation enqueue', 'dies before'],
    ['phase1 PutItem stage1 complete', 'lost'],
    ['phase1 model extraction', 'dies after'],
    ['sweep Invoke', 'repeated'],
    ['phase2 UpdateItem head switch', 'dies after'],
    ['phase2 UpdateItem usage settle', 'fails'],
    ['phase2 PutItem answer', 'lost'],
    ['read UpdateItem stage1 count use', 'hangs'],
  ])('%s, which %s: the path comes to rest as without it', async (name, fault) => {
    expect((await runCell(ground, { name, number: 0, fault }, answers)).faults).toEqual([]);
  });

  it('breaks where its call is never made', async () => {
    const end = await runCell(ground, { name: 'phase1 PutItem nothing', number: 0, fault: 'fails' }, answers);
    expect(end.faults).toEqual(['the call was never made']);
  });

  it('breaks only where the fault is met: a count without its condition is done twice when the SDK repeats it', async () => {
    const careless = brokenTable((name, command, send) => {
      if (name.endsWith('count use'))
        Reflect.set(
          command.input,
          'ConditionExpression',
          `attribute_exists(pk) OR touch_id <> :touch OR last_usage < :over`,
        );
      return send();
    });
    expect((await runPath(careless)).faults).toEqual([]);
    const plan = { name: 'read UpdateItem stage1 count use', number: 0, fault: 'repeated' } as const;
    expect((await runCell(careless, plan, answers)).faults).toEqual(['citation of thread-a counted 2 times']);
  });
});

describe('the checks of the path', () => {
  it.each([
    ['PutItem consolidation enqueue', /memory rests on nothing/],
    ['UpdateItem usage reserve', /^ledger: \d+ tokens booked/],
    ['UpdateItem stage1 mark selected', /not marked selected/],
  ])('find out a table that forgets each %s', async (name, told) => {
    expect((await runPath(forgetting(name))).faults).toContainEqual(expect.stringMatching(told));
  });
});

describe('the matrix', () => {
  it('meets writes with every fault, and reads with those that make a difference', () => {
    const faultsOf = (name: string): readonly Fault[] =>
      plansFor(calls).flatMap((plan) => (plan.name === name && plan.number === 0 ? [plan.fault] : []));
    expect(faultsOf('phase2 UpdateItem head switch')).toHaveLength(6);
    expect(faultsOf('read GetItem head')).toEqual(['fails', 'hangs', 'dies before']);
    expect(faultsOf('phase2 model consolidation')).not.toContain('repeated');
  });

  it('takes the same sample for a seed, of every kind of call as far as it goes', () => {
    const plans = plansFor(calls);
    const kinds = new Set(plans.map((plan) => plan.name)).size;
    const sample = sampleOf(plans, kinds, new Random(7));
    expect(new Set(sample.map((plan) => plan.name)).size).toBe(kinds);
    expect(sampleOf(plans, kinds, new Random(7))).toEqual(sample);
    expect(sampleOf(plans, kinds, new Random(8))).not.toEqual(sample);
  });

  it('shows what broke', () => {
    const name = 'read GetItem head';
    const end = { name, number: 0, fault: 'fails', faults: ['torn'], extraAnswers: 0 } as const;
    const text = printMatrix(toRows(calls, [end, { ...end, fault: 'hangs', faults: [] }]));
    expect(text).toMatch(/read GetItem head +1 +1\/1 broke +ok +-/);
    expect(text).toContain('read GetItem head #1 fails: torn');
  });
});
