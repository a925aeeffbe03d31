import { expect, it } from 'vitest';
import { askModel, type ModelPorts } from '../../../core/agent/ask-model.ts';
import { UnavailableError } from '../../../core/errors.ts';
import type { ModelRequest } from '../../../core/ports/model-client.ts';
import type { StepRunner } from '../../../core/ports/step-runner.ts';
import type { UsageLedger } from '../../../core/ports/usage-ledger.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { MemoryStepRunner } from '../../doubles/memory-step-runner.ts';
import { MemoryUsageLedger } from '../../doubles/memory-usage-ledger.ts';
import { NumberedTokens } from '../../doubles/numbered-tokens.ts';
import { ScriptedModel } from '../../doubles/scripted-model.ts';
import { NOW } from '../../support/sample-state.ts';
import { finishing, TURN_USAGE } from './agent-script.ts';

const ACCOUNT = { userKey: 'u', runId: 'run', dailyTokenBudget: 1_000_000 };
const REQUEST: ModelRequest = {
  purpose: 'consolidation',
  model: 'm',
  instructions: 'i',
  reasoningEffort: 'medium',
  items: [],
  maxOutputTokens: 100,
  timeoutMs: 1_000,
};

function rig(more: Partial<ModelPorts> = {}) {
  const model = new ScriptedModel([finishing()]);
  const ledger = new MemoryUsageLedger();
  const steps = new MemoryStepRunner();
  const ports: ModelPorts = { model, ledger, steps, clock: new FixedClock(NOW), tokens: new NumberedTokens(), ...more };
  return { ports, model, ledger, steps };
}

/** Says that the store is out, so many times. */
function outage(times: number): () => void {
  let left = times;
  return () => {
    if (left-- > 0) throw new UnavailableError('table.throttled', 'the table is throttled');
  };
}

/** Steps whose answers cannot be kept at first. */
function keepingAfter(kept: StepRunner, times: number): StepRunner {
  const fail = outage(times);
  return {
    run: (runId, name, shape, work) =>
      kept.run(runId, name, shape, async () => {
        const answer = await work();
        fail();
        return answer;
      }),
    finish: (runId) => kept.finish(runId),
  };
}

it('keeps a turn that was paid for although its answer could not be kept at first', async () => {
  const kept = new MemoryStepRunner();
  const { ports, model, ledger } = rig({ steps: keepingAfter(kept, 2) });
  expect((await askModel(ports, ACCOUNT, 'turn-001', REQUEST)).usages).toEqual([TURN_USAGE]);
  expect(model.requests).toHaveLength(1);
  expect(await ledger.day('u', '2025-10-09')).toMatchObject({ calls: 1, reservedTokens: 0, usage: TURN_USAGE });
  expect((await askModel(ports, ACCOUNT, 'turn-001', REQUEST)).reply).toMatchObject({ kind: 'reply' });
  expect(model.requests).toHaveLength(1);
});

it('keeps a turn that was paid for although it could not be settled at first', async () => {
  const ledger = new MemoryUsageLedger();
  const fail = outage(1);
  const settling: UsageLedger = {
    reserve: (...args) => ledger.reserve(...args),
    settle: async (...args) => {
      fail();
      await ledger.settle(...args);
    },
    day: (...args) => ledger.day(...args),
  };
  const { ports, model } = rig({ ledger: settling });
  expect((await askModel(ports, ACCOUNT, 'turn-001', REQUEST)).reply).toMatchObject({ kind: 'reply' });
  expect(model.requests).toHaveLength(1);
  expect(await ledger.day('u', '2025-10-09')).toMatchObject({ calls: 1, reservedTokens: 0 });
});

it('gives up on a store that stays out', async () => {
  const { ports, model } = rig({ steps: keepingAfter(new MemoryStepRunner(), 100) });
  await expect(askModel(ports, ACCOUNT, 'turn-001', REQUEST)).rejects.toMatchObject({ code: 'table.throttled' });
  expect(model.requests).toHaveLength(1);
});

it('does not insist where nothing was paid for', async () => {
  let runs = 0;
  const { ports } = rig({
    steps: {
      run: async () => {
        runs++;
        throw new UnavailableError('table.throttled', 'the table is throttled');
      },
      finish: async () => {},
    },
  });
  await expect(askModel(ports, ACCOUNT, 'turn-001', REQUEST)).rejects.toMatchObject({ code: 'table.throttled' });
  expect(runs).toBe(1);
});
