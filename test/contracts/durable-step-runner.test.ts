import { withDurableExecution } from '@aws/durable-execution-sdk-js';
import { LocalDurableTestRunner } from '@aws/durable-execution-sdk-js-testing';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { DurableStepRunner } from '../../adapters/durable/step-runner.ts';
import { MemoryStepRunner } from '../doubles/memory-step-runner.ts';
import { durableGrounds } from '../support/durable-ground.ts';
import { stepRunnerContract } from './step-runner.contract.ts';

const grounds = durableGrounds();

stepRunnerContract('durable execution', grounds.unhurried, { checkpoints: true });
stepRunnerContract('durable execution, suspended after every step', grounds.suspended, { checkpoints: true });

it("C9 suspends where time is short, in the service's own test runner too, and pays no turn twice", async () => {
  const paid: string[] = [];
  const kept = new MemoryStepRunner();
  const remaining: number[] = [900_000, 100_000, 900_000];
  const handlerFunction = withDurableExecution(async (_event: unknown, context) => {
    const remainingMs = (): number => remaining[paid.length - 1] ?? 0;
    const steps = new DurableStepRunner(context, kept, { remainingMs, reserveMs: 300_000 });
    const turns: number[] = [];
    for (const name of ['turn-001', 'turn-002', 'turn-003'])
      turns.push(await steps.run('r', name, z.number(), async () => paid.push(name)));
    return turns;
  });
  const execution = await new LocalDurableTestRunner<readonly number[]>({ handlerFunction }).run();
  expect(execution.getResult()).toEqual([1, 2, 3]);
  expect(execution.getInvocations()).toHaveLength(2);
  expect(execution.getOperations().map((operation) => operation.getName())).toEqual([
    'step',
    'step',
    'suspend',
    'step',
  ]);
});
