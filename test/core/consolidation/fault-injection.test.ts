import { describe, expect, it } from 'vitest';
import { consolidate } from '../../../core/consolidation/consolidate.ts';
import { eraseUser } from '../../../core/control/erase-user.ts';
import { forgetThread } from '../../../core/control/forget-thread.ts';
import { resetMemory } from '../../../core/control/reset-memory.ts';
import { UnavailableError } from '../../../core/errors.ts';
import { consolidationDueAt } from '../../../core/job/claim-consolidation.ts';
import { DEFAULT_SETTINGS, LIMITS } from '../../../core/settings.ts';
import { MemoryEraseMarks } from '../../doubles/memory-erase-marks.ts';
import { ScriptedModel, textReply } from '../../doubles/scripted-model.ts';
import { finishing, writing } from '../agent/agent-script.ts';
import { ConsolidationBench, USER } from './consolidation-bench.ts';
import { hookPorts, type PortHook } from './fault-ports.ts';
import { SUMMARY_TEXT } from './memory-text.ts';

const KEY = { kind: 'consolidation' } as const;

/** A user with one consolidated thread and another one to take in. */
async function benchBeforeUpdate(): Promise<ConsolidationBench> {
  const bench = new ConsolidationBench();
  await bench.addOutput('t1');
  await bench.goodRun('t1');
  await bench.addOutput('t2');
  return bench;
}

function updateScript(bench: ConsolidationBench) {
  return [
    writing('MEMORY.md', bench.goodMemory(['t1', 't2'])),
    writing('memory_summary.md', `${SUMMARY_TEXT}\n`),
    finishing(),
  ];
}

type Way = 'loop' | 'once';
const WAYS: readonly Way[] = ['loop', 'once'];

/** Runs the update with a hook; the model answers by where the conversation stands, as often as it is asked. */
async function runHooked(
  bench: ConsolidationBench,
  hook: PortHook,
  way: Way = 'loop',
): Promise<{ model: ScriptedModel; end: unknown }> {
  const turns = updateScript(bench);
  const edits = [
    { tool: 'write', path: 'MEMORY.md', content: bench.goodMemory(['t1', 't2']) },
    { tool: 'write', path: 'memory_summary.md', content: `${SUMMARY_TEXT}\n` },
  ];
  const model = new ScriptedModel(
    Array.from({ length: 6 }, () => (request) => {
      if (request.output !== undefined) return textReply(JSON.stringify({ report: 'done', edits }));
      const turn = turns[request.items.filter((item) => item.kind === 'tool_result').length];
      if (turn === undefined) throw new Error('no such turn');
      return turn;
    }),
  );
  const oneShotTokens = way === 'once' ? LIMITS.oneShotTokens : 0;
  const request = { userKey: USER, settings: DEFAULT_SETTINGS, model: 'm', immediate: true, oneShotTokens };
  const end = await consolidate(hookPorts(bench.ports(model), hook), request).catch((error: unknown) => error);
  return { model, end };
}

async function listCalls(way: Way): Promise<readonly string[]> {
  const calls: string[] = [];
  const bench = await benchBeforeUpdate();
  const { end } = await runHooked(
    bench,
    (when, call) => {
      if (when === 'before') calls.push(call);
    },
    way,
  );
  expect(end).toMatchObject({ kind: 'published', version: 2, way });
  return calls;
}

/** The memory is whole: the old version or the new one, and the head tells the same as the files. */
async function expectReadable(bench: ConsolidationBench): Promise<number> {
  const files = await bench.files();
  const head = await bench.heads.read(USER);
  expect(head.summary).toBe(files['memory_summary.md']);
  expect(files['MEMORY.md']).toBe(bench.goodMemory(head.version === 1 ? ['t1'] : ['t1', 't2']));
  return head.version;
}

async function expectCompleted(bench: ConsolidationBench): Promise<void> {
  expect(await bench.jobs.get(USER, KEY)).toMatchObject({ status: 'done', lastError: null });
  expect((await bench.outputs.heads(USER)).every((head) => head.selectedSnapshot === head.sourceUpdatedAt)).toBe(true);
  const numbers = await bench.memories.manifestNumbers(USER);
  const made = await Promise.all(numbers.map((number) => bench.memories.manifest(USER, number)));
  const { version } = await bench.heads.read(USER);
  const current = made.filter((manifest) => manifest && manifest.version <= version && manifest.inputs.length === 2);
  const reachable = current.filter((manifest) => manifest?.version === version || manifest?.parent === version);
  expect(reachable).toHaveLength(1); // published once, whatever a dead run left behind
  expect(made.find((manifest) => manifest?.version === version)?.parent).toBe(1);
}

describe('a process that dies', () => {
  it.each(WAYS.flatMap((way) => (['before', 'after'] as const).map((when) => [when, way] as const)))(
    '%s any one call of a %s leaves a whole memory; the next run completes it once',
    async (when, way) => {
      const calls = await listCalls(way);
      expect(calls.length).toBeGreaterThan(25);
      for (let at = 0; at < calls.length; at++) {
        const bench = await benchBeforeUpdate();
        let count = 0;
        let dead = false;
        const die: PortHook = (moment) => {
          if (dead || (moment === when && count++ === at)) {
            dead = true;
            throw new Error('killed');
          }
        };
        const first = await runHooked(bench, die, way);
        expect(first.end, `${when} ${calls[at]}`).toBeInstanceOf(Error);
        const versionAfterDeath = await expectReadable(bench);

        bench.clock.advance(LIMITS.consolidationLeaseMs);
        const second = await runHooked(bench, () => {}, way);
        expect(second.end).toMatchObject({ kind: expect.stringMatching(/^(published|unchanged)$/) });
        if (versionAfterDeath > 1) expect(second.end).toMatchObject({ kind: 'unchanged', turns: 0 });
        await expectReadable(bench);
        await expectCompleted(bench);
        // Every turn is paid once, the one in flight at most twice.
        const asked = first.model.requests.length + second.model.requests.length;
        expect(asked, `${when} ${calls[at]}`).toBeLessThanOrEqual(way === 'once' ? 2 : 4);
      }
    },
  );
});

describe('a store that fails', () => {
  it.each(WAYS.flatMap((way) => (['before', 'after'] as const).map((when) => [when, way] as const)))(
    '%s any one call of a %s fails the job with its code; the next run completes',
    async (when, way) => {
      const calls = await listCalls(way);
      for (let at = 0; at < calls.length; at++) {
        const bench = await benchBeforeUpdate();
        let count = 0;
        const fail: PortHook = (moment) => {
          if (moment === when && count++ === at) throw new UnavailableError('store.down', 'the store is down');
        };
        const { end } = await runHooked(bench, fail, way);
        const call = `${when} ${calls[at]}`;
        const tolerated = calls[at] === 'memories.removeOrphans' || calls[at]?.startsWith('memories.manifestNumbers');
        if (calls[at] === 'jobs.claim') expect(end, call).toBeInstanceOf(UnavailableError);
        else if (!(tolerated && (end as { kind?: string }).kind === 'published'))
          expect(end, call).toMatchObject({ kind: expect.stringMatching(/failed|published/) });
        if ((end as { kind?: string }).kind === 'failed') {
          expect(end, call).toMatchObject({ code: 'store.down' });
          const job = await bench.jobs.get(USER, KEY);
          if (job?.status !== 'done') expect(job, call).toMatchObject({ status: 'error', lastError: 'store.down' });
        }
        await expectReadable(bench);

        bench.clock.advance(LIMITS.retryDelayMs);
        const second = await runHooked(bench, () => {});
        expect(second.end, call).toMatchObject({ kind: expect.stringMatching(/^(published|unchanged)$/) });
        await expectReadable(bench);
        await expectCompleted(bench);
      }
    },
  );

  it('throws what is no failure of a store on, after the job was marked', async () => {
    const bench = await benchBeforeUpdate();
    let thrown = false;
    const { end } = await runHooked(bench, (when, call) => {
      if (thrown || when !== 'before' || call !== 'outputs.bodies') return;
      thrown = true;
      throw new TypeError('secret content');
    });
    expect(end).toBeInstanceOf(TypeError);
    expect(await bench.jobs.get(USER, KEY)).toMatchObject({ status: 'error', lastError: 'core.unexpected' });
  });
});

describe('a holder that stalls', () => {
  it('C24 TC-145 is overtaken: it publishes nothing and does not mark the job', async () => {
    const bench = await benchBeforeUpdate();
    let stalled = false;
    const { end } = await runHooked(bench, async (when, call) => {
      if (stalled || when !== 'after' || call !== 'model.respond') return;
      stalled = true;
      bench.clock.advance(LIMITS.consolidationLeaseMs);
      expect(await bench.run(updateScript(bench))).toMatchObject({ kind: 'published', version: 2 });
    });
    expect(end).toMatchObject({ kind: 'failed', code: 'consolidation.ownership_lost', turns: 1 });
    expect(await bench.memories.manifestNumbers(USER)).toEqual([1, 2]);
    expect(await bench.jobs.get(USER, KEY)).toMatchObject({ status: 'done', lastError: null });
  });

  it('C24 is refused by the fence when it stalls between its last heartbeat and the switch', async () => {
    const bench = await benchBeforeUpdate();
    let stalled = false;
    const { end } = await runHooked(bench, async (when, call) => {
      if (stalled || when !== 'before' || call !== 'heads.switchTo') return;
      stalled = true;
      bench.clock.advance(LIMITS.consolidationLeaseMs);
      expect(await bench.run([])).toMatchObject({ kind: 'published' });
    });
    expect(end).toMatchObject({ kind: 'failed', code: 'consolidation.ownership_lost' });
    await expectReadable(bench);
    expect(await bench.jobs.get(USER, KEY)).toMatchObject({ status: 'done', lastError: null });
  });

  it('confirms that it holds the job before every model call, before publishing, and once its record is kept', async () => {
    const bench = await benchBeforeUpdate();
    let beats = 0;
    const { model, end } = await runHooked(bench, (when, call) => {
      if (when === 'after' && call === 'jobs.heartbeat') beats++;
    });
    expect(end).toMatchObject({ kind: 'published' });
    expect(beats).toBe(5);
    expect(model.requests).toHaveLength(3);
  });

  it.each(['jobs gone', 'reset', 'erased'] as const)(
    'C24 makes no further model call once its user is %s, and keeps no answer',
    async (how) => {
      const bench = await benchBeforeUpdate();
      const runIds = new Set<string>();
      const runStep = bench.steps.run.bind(bench.steps);
      bench.steps.run = (runId, name, shape, work) => {
        runIds.add(runId);
        return runStep(runId, name, shape, work);
      };
      let calls = 0;
      const { end } = await runHooked(bench, async (when, call) => {
        if (when !== 'before' || call !== 'model.respond' || ++calls > 1) return;
        if (how === 'jobs gone') await bench.jobs.clear(USER);
        if (how === 'reset') await resetMemory(bench, USER);
        if (how === 'erased') {
          const erased = eraseUser({ ...bench, traces: [], marks: new MemoryEraseMarks() }, USER);
          await expect(erased).rejects.toMatchObject({ code: 'erase.runs_in_flight' });
        }
      });
      expect(end).toMatchObject({ kind: 'failed', code: 'consolidation.ownership_lost', turns: 1 });
      expect(calls).toBe(1);
      expect(runIds.size).toBe(1);
      for (const runId of runIds) expect(bench.steps.kept(runId)).toBe(0);
    },
  );

  it('B29 does not publish a thread that is forgotten at the moment of the switch, and is due again at once', async () => {
    const bench = await benchBeforeUpdate();
    await bench.addOutput('t3');
    let forgotten = false;
    const { end } = await runHooked(bench, async (when, call) => {
      if (forgotten || when !== 'before' || call !== 'heads.switchTo') return;
      forgotten = true;
      await forgetThread({ ...bench, rollouts: { remove: async () => true } }, USER, 't2');
    });
    expect(end).toMatchObject({ kind: 'failed', code: 'consolidation.ownership_lost' });
    expect(await bench.heads.read(USER)).toMatchObject({ version: 1 });
    const job = await bench.jobs.get(USER, KEY);
    expect(consolidationDueAt(job)).toBe(bench.clock.now());
    expect(job?.retryRemaining).toBe(LIMITS.retryBudget);
    const script = [writing('MEMORY.md', bench.goodMemory(['t1', 't3'])), finishing()];
    expect(await bench.run(script, { immediate: false })).toMatchObject({ kind: 'published' });
    expect((await bench.manifest())?.inputs.map((input) => input.threadId).sort()).toEqual(['t1', 't3']);
  });

  it('B29 starts over without a thread that is forgotten while the agent works, and publishes', async () => {
    const bench = await benchBeforeUpdate();
    await bench.addOutput('t3');
    const memory = bench.goodMemory(['t1', 't3']);
    const result = await bench.run([
      async () => {
        await forgetThread({ ...bench, rollouts: { remove: async () => true } }, USER, 't2');
        return writing('MEMORY.md', bench.goodMemory(['t1']));
      },
      finishing(),
      () => writing('MEMORY.md', memory),
      finishing(),
    ]);
    expect(result).toMatchObject({ kind: 'published' });
    expect((await bench.manifest())?.inputs.map((input) => input.threadId).sort()).toEqual(['t1', 't3']);
  });

  it('cannot commit after a reset', async () => {
    const bench = await benchBeforeUpdate();
    let reset = false;
    const { end } = await runHooked(bench, async (when, call) => {
      if (reset || when !== 'before' || call !== 'heads.switchTo') return;
      reset = true;
      await bench.heads.reset(USER);
    });
    expect(end).toMatchObject({ kind: 'failed', code: 'consolidation.ownership_lost' });
    expect(await bench.heads.read(USER)).toMatchObject({ version: 0, epoch: 1 });
  });
});
