import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { DurableStepRunner } from '../../../adapters/durable/step-runner.ts';
import type { StepRunner } from '../../../core/ports/step-runner.ts';
import { MemoryStepRunner } from '../../doubles/memory-step-runner.ts';
import { DurableHost } from '../../support/durable-host.ts';

const RESERVE_MS = 300_000;

interface Setup {
  /** Whether time is short after every step. */
  readonly hurried?: boolean;
  readonly kept?: StepRunner;
}

/** An execution whose handler has a runner. */
function hostOf(handle: (steps: StepRunner, invocation: number) => Promise<unknown>, setup: Setup = {}): DurableHost {
  const { hurried = false, kept = new MemoryStepRunner() } = setup;
  const host: DurableHost = DurableHost.of((_event, context) => {
    const remainingMs = (): number => (hurried ? RESERVE_MS - 1 : RESERVE_MS);
    return handle(new DurableStepRunner(context, kept, { remainingMs, reserveMs: RESERVE_MS }), host.invocations);
  });
  return host;
}

describe('a durable run', () => {
  it('suspends after every step when time is short, and pays no turn twice', async () => {
    const paid: string[] = [];
    const host = hostOf(
      async (steps) => {
        const turns: string[] = [];
        for (const name of ['turn-001', 'turn-002', 'turn-003'])
          turns.push(await steps.run('r', name, z.string(), async () => `${name} paid ${paid.push(name)}`));
        return turns;
      },
      { hurried: true },
    );
    expect(await host.run()).toEqual({
      status: 'SUCCEEDED',
      result: ['turn-001 paid 1', 'turn-002 paid 2', 'turn-003 paid 3'],
    });
    expect(host.invocations).toBe(4);
    expect(host.ended).toEqual(['step', 'suspend', 'step', 'suspend', 'step', 'suspend']);
  });

  it('does not suspend while time is left', async () => {
    const host = hostOf((steps) => steps.run('r', 's', z.number(), async () => 1));
    expect(await host.run()).toEqual({ status: 'SUCCEEDED', result: 1 });
    expect([host.invocations, host.ended]).toEqual([1, ['step']]);
  });

  it('killed between two steps goes on after the first; killed in a step, does that one again', async () => {
    const paid: string[] = [];
    const host = hostOf(async (steps, invocation) => {
      const first = await steps.run('r', 'a', z.number(), async () => paid.push('a'));
      if (invocation === 1) await host.killHere();
      const second = await steps.run('r', 'b', z.number(), async () => {
        if (invocation === 2) await host.killHere();
        return paid.push('b');
      });
      return [first, second];
    });
    expect(await host.run()).toEqual({ status: 'SUCCEEDED', result: [1, 2] });
    expect([host.invocations, paid]).toEqual([3, ['a', 'b']]);
  });

  it('of other inputs reads no answer of another run, and one that comes back finds its own', async () => {
    const paid: string[] = [];
    const pay = (steps: StepRunner, runId: string) =>
      steps.run(runId, 'turn-001', z.string(), async () => `${runId} ${paid.push(runId)}`);
    const host = hostOf(async (steps, invocation) => {
      if (invocation === 2) {
        const other = await pay(steps, 'run-b');
        await host.killHere();
        return other;
      }
      const mine = await pay(steps, 'run-a');
      if (invocation === 1) await host.killHere();
      return [mine, await pay(steps, 'run-b'), await pay(steps, 'run-c')];
    });
    expect(await host.run()).toEqual({ status: 'SUCCEEDED', result: ['run-a 1', 'run-b 2', 'run-c 3'] });
    expect(paid).toEqual(['run-a', 'run-b', 'run-c']);
  });

  it('passes what a step threw on as it was, and does that step again on a later pass only', async () => {
    const seen: unknown[] = [];
    const failure = new RangeError('work failed');
    const host = hostOf(async (steps, invocation) => {
      const work = async (): Promise<number> => {
        if (invocation === 1) throw failure;
        return 7;
      };
      const answer = await steps.run('r', 's', z.number(), work).catch((error: unknown) => {
        seen.push(error);
        return host.killHere();
      });
      return answer;
    });
    expect(await host.run()).toEqual({ status: 'SUCCEEDED', result: 7 });
    expect(seen).toEqual([failure]);
    expect(seen[0]).toBe(failure);
    expect(host.invocations).toBe(2);
  });

  it('leaves no content in the history of the execution', async () => {
    const host = hostOf(async (steps) => {
      await steps.run('r', 's', z.string(), async () => 'SECRET CONTENT'.repeat(50_000));
      await steps.run('r', 'failing', z.string(), () => Promise.reject(new Error('SECRET CONTENT'))).catch(() => null);
      return null;
    });
    expect(await host.run()).toEqual({ status: 'SUCCEEDED', result: null });
    expect(host.ended).toEqual(['step', 'step']);
    expect(host.history()).not.toContain('SECRET');
  });

  it('lets a later execution of the same run go on with what was paid', async () => {
    const kept = new MemoryStepRunner();
    const paid: string[] = [];
    const pay = (steps: StepRunner, name: string) => steps.run('r', name, z.number(), async () => paid.push(name));
    const first = hostOf((steps) => pay(steps, 'turn-001'), { kept });
    await first.run();
    const second = hostOf(async (steps) => [await pay(steps, 'turn-001'), await pay(steps, 'turn-002')], { kept });
    expect(await second.run()).toEqual({ status: 'SUCCEEDED', result: [1, 2] });
    expect(paid).toEqual(['turn-001', 'turn-002']);
  });

  it('takes its steps one after the other, however they are asked for', async () => {
    const host = hostOf(async (steps, invocation) => {
      const answers = await Promise.all(
        ['a', 'b', 'a'].map((name) => steps.run('r', name, z.string(), async () => `${name}${invocation}`)),
      );
      if (invocation === 1) await host.killHere();
      return answers;
    });
    expect(await host.run()).toEqual({ status: 'SUCCEEDED', result: ['a1', 'b1', 'a1'] });
  });
});
