import { describe, expect, it } from 'vitest';
import type { ConsolidationPorts } from '../../../core/consolidation/consolidation-ports.ts';
import { UnavailableError } from '../../../core/errors.ts';
import type { ModelReply, ModelRequest } from '../../../core/ports/model-client.ts';
import { LIMITS } from '../../../core/settings.ts';
import { TURN_RESERVE_MS } from '../../../functions/phase2/consolidate-user.ts';
import { finishing } from '../../core/agent/agent-script.ts';
import { benchWith, type ConsolidationBench, USER } from '../../core/consolidation/consolidation-bench.ts';
import { hookPorts, type PortHook } from '../../core/consolidation/fault-ports.ts';
import { ScriptedModel } from '../../doubles/scripted-model.ts';
import type { DurableHost } from '../../support/durable-host.ts';
import { Phase2Bench } from './phase2-bench.ts';

const job = (bench: ConsolidationBench) => bench.jobs.get(USER, { kind: 'consolidation' });
const versions = (bench: ConsolidationBench) => bench.memories.manifestNumbers(USER);

/** Ports that call a hook around every call but those to keep a step, which are the execution's own. */
function hooked(hook: PortHook): (ports: ConsolidationPorts) => ConsolidationPorts {
  return (ports) => hookPorts(ports, hook);
}

it('C9 suspends where the next turn may not fit, and pays no turn twice', async () => {
  const bench = await benchWith('t1');
  const model = new ScriptedModel(bench.goodScript('t1'));
  const left = [TURN_RESERVE_MS, TURN_RESERVE_MS - 1];
  let execution: DurableHost | undefined;
  const remainingMs = (): number =>
    execution?.invocations === 1 ? (left[model.requests.length - 1] ?? 900_000) : 900_000;
  execution = new Phase2Bench(bench).execution(model, { remainingMs });
  expect(await execution.run()).toMatchObject({ result: { result: 'published', turns: 3 } });
  expect(execution.invocations).toBe(2);
  expect(execution.ended).toEqual(['token', 'step', 'step', 'suspend', 'step']);
  model.assertDone();
});

it('with too little time for any turn ends at once, and the next execution goes on', async () => {
  const bench = await benchWith('t1');
  const phase2 = new Phase2Bench(bench);
  const short = phase2.execution(new ScriptedModel(), { remainingMs: () => 120_000 });
  expect(await short.run()).toMatchObject({ result: { result: 'failed', code: 'agent.deadline' } });
  const next = phase2.execution(new ScriptedModel(bench.goodScript('t1')), { dueAt: 2 });
  expect(await next.run()).toMatchObject({ result: { result: 'published' } });
});

it('B8 died after publishing: marks the job done and publishes nothing', async () => {
  const bench = await benchWith('t1');
  const model = new ScriptedModel(bench.goodScript('t1'));
  const change = hooked(async (when, call) => {
    if (when === 'before' && call === 'jobs.complete' && execution.invocations === 1) await execution.killHere();
  });
  const execution: DurableHost = new Phase2Bench(bench).execution(model, { change });
  expect(await execution.run()).toMatchObject({ result: { result: 'unchanged', version: 1 } });
  expect(execution.invocations).toBe(2);
  expect(await versions(bench)).toEqual([1]);
  expect(await job(bench)).toMatchObject({ status: 'done' });
  model.assertDone();
});

/** What happens to a run at one of its calls. */
type Disturbance = (execution: DurableHost) => Promise<never>;

interface DisturbedRun {
  readonly disturbedIn: string;
  readonly modelCalls: number;
  readonly invocations: number;
}

/**
 * A run disturbed at its n-th hook, and executions after it until the job is done.
 * @returns undefined where the run has fewer hooks
 */
async function disturbAt(at: number, disturb: Disturbance): Promise<DisturbedRun | undefined> {
  const bench = await benchWith('t1');
  const phase2 = new Phase2Bench(bench);
  const model = answering(bench.goodScript('t1'));
  let hooks = 0;
  let disturbedIn: string | undefined;
  const change = hooked(async (when, call) => {
    if (hooks++ !== at) return;
    disturbedIn = `${when} ${call}`;
    await disturb(execution);
  });
  const execution: DurableHost = phase2.execution(model, { change });
  expect(await execution.run()).toMatchObject({ status: 'SUCCEEDED' });
  for (let dueAt = 1; (await job(bench))?.status !== 'done' && dueAt <= 3; dueAt++) {
    bench.clock.advance(2 * LIMITS.retryDelayMs);
    expect(await phase2.execution(model, { dueAt }).run()).toMatchObject({ status: 'SUCCEEDED' });
  }
  if (disturbedIn === undefined) return undefined;
  expect([disturbedIn, (await job(bench))?.status]).toEqual([disturbedIn, 'done']);
  // Over nothing: it is the first version, and no other was current before it. A manifest that was staged may lie beside it.
  expect([disturbedIn, (await bench.manifest())?.parent]).toEqual([disturbedIn, 0]);
  expect((await bench.files())['MEMORY.md']).toBe(bench.goodMemory(['t1']));
  return { disturbedIn, modelCalls: model.requests.length, invocations: execution.invocations };
}

/** Answers each call by what its conversation holds so far, since a call cut off is made again; one call more at most. */
function answering(script: readonly ModelReply[]): ScriptedModel {
  const entry = (request: ModelRequest): ModelReply =>
    script[request.items.filter((item) => item.kind === 'tool_call').length] ?? finishing();
  return new ScriptedModel(Array.from({ length: script.length + 1 }, () => entry));
}

describe.each<[string, Disturbance]>([
  ['killed', (execution) => execution.killHere()],
  ['refused or left without a reply', () => Promise.reject(new UnavailableError('test.fault', 'injected'))],
])('%s at any call', (name, disturb) => {
  it('publishes once, and pays for no call but the one in flight again', async () => {
    const seen: string[] = [];
    for (let at = 0; ; at++) {
      const run = await disturbAt(at, disturb);
      if (run === undefined) break;
      seen.push(run.disturbedIn);
      const unsettled = name === 'killed' && run.disturbedIn.endsWith('ledger.settle'); // a refusal is outlived
      const inFlight = run.disturbedIn === 'after model.respond' || unsettled;
      expect([run.disturbedIn, run.modelCalls]).toEqual([run.disturbedIn, inFlight ? 4 : 3]);
      expect(run.invocations).toBe(name === 'killed' ? 2 : 1);
    }
    expect(seen).toContain('after heads.switchTo');
    expect(seen.length).toBeGreaterThan(40);
  });
});
