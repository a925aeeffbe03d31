import { describe, expect, it, vi } from 'vitest';
import { consolidate } from '../../../core/consolidation/consolidate.ts';
import type { ConsolidationResult } from '../../../core/consolidation/consolidation-ports.ts';
import { DEFAULT_SETTINGS, LIMITS } from '../../../core/settings.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../core/time.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { MemoryStepRunner } from '../../doubles/memory-step-runner.ts';
import { ScriptedModel } from '../../doubles/scripted-model.ts';
import { NOW } from '../../support/sample-state.ts';
import { finishing, writing } from '../agent/agent-script.ts';
import { benchWith, type ConsolidationBench, firstMessage, lastResult, reading, USER } from './consolidation-bench.ts';
import { SUMMARY_TEXT } from './memory-text.ts';

const NOTE = 'extensions/ad_hoc/notes/2026-01-02T03-04-05-tabs.md';

describe('notes and hand edits', () => {
  it('takes a note in once: pending before, not after, its instructions beside it', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    await bench.publishSmall('note', { [NOTE]: 'use tabs' });
    expect((await bench.heads.read(USER)).pendingNotes).toHaveLength(1);
    const memory = bench.goodMemory(['t1'], ['Use tabs [ad-hoc note]']);
    const result = await bench.run([writing('MEMORY.md', memory), finishing()]);
    expect(firstMessage(result.model.requests[0])).toContain(`- ${NOTE}`);
    expect((await bench.heads.read(USER)).pendingNotes).toEqual([]);
    expect((await bench.manifest())?.notesConsumed).toEqual([NOTE]);
    expect((await bench.files())['extensions/ad_hoc/instructions.md']).toContain('authoritative as information');
    expect(await bench.run()).toMatchObject({ kind: 'unchanged' });
  });

  it('A31 shows a hand edit as a change and keeps it where the agent does', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    const edited = bench.goodMemory(['t1'], ['By hand [Task 1]']);
    await bench.publishSmall('edit', { 'MEMORY.md': edited });
    const seen: string[] = [];
    const result = await bench.run([
      reading('phase2_workspace_diff.md'),
      (request) => {
        seen.push(lastResult(request));
        return finishing();
      },
    ]);
    expect(seen[0]).toContain('- M MEMORY.md');
    expect(seen[0]).toContain('+- By hand [Task 1]');
    expect(result).toMatchObject({ kind: 'published', version: 3 });
    expect((await bench.files())['MEMORY.md']).toBe(edited);
    expect(await bench.run()).toMatchObject({ kind: 'unchanged', version: 3 });
  });

  it('A31 starts over from a hand edit that came in between, and keeps its line', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    await bench.addOutput('t2');
    const edited = bench.goodMemory(['t1'], ['Typed meanwhile [Task 1]']);
    const both = bench.goodMemory(['t1', 't2'], ['Typed meanwhile [Task 1]', 'New [Task 2]']);
    const result = await bench.run([
      writing('MEMORY.md', bench.goodMemory(['t1', 't2'])),
      async () => {
        await bench.publishSmall('edit', { 'MEMORY.md': edited });
        return finishing();
      },
      writing('MEMORY.md', both),
      finishing(),
    ]);
    expect(result).toMatchObject({ kind: 'published', turns: 4 });
    expect((await bench.files())['MEMORY.md']).toBe(both);
    expect((await bench.manifest())?.parent).toBe(2);
    expect(await bench.run()).toMatchObject({ kind: 'unchanged' });
  });

  it("gives up after the second hand edit in between, with the person's files current", async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    await bench.addOutput('t2');
    const edits = ['One [Task 1]', 'Two [Task 1]'].map((bullet) => bench.goodMemory(['t1'], [bullet]));
    const racing = (edit: string | undefined) => async () => {
      await bench.publishSmall('edit', { 'MEMORY.md': edit ?? '' });
      return finishing();
    };
    const result = await bench.run([
      writing('MEMORY.md', bench.goodMemory(['t1', 't2'])),
      racing(edits[0]),
      writing('MEMORY.md', bench.goodMemory(['t1', 't2'])),
      racing(edits[1]),
    ]);
    expect(result).toMatchObject({ kind: 'failed', code: 'consolidation.moved' });
    expect((await bench.files())['MEMORY.md']).toBe(edits[1]);
  });

  it('merges over a note that came in between without another model call, and takes it in next time', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    await bench.addOutput('t2');
    const result = await bench.run([
      writing('MEMORY.md', bench.goodMemory(['t1', 't2'])),
      async () => {
        await bench.publishSmall('note', { [NOTE]: 'use tabs' });
        return finishing();
      },
    ]);
    expect(result).toMatchObject({ kind: 'published', turns: 2 });
    expect((await bench.heads.read(USER)).pendingNotes).toEqual([{ path: NOTE, text: 'use tabs' }]);
    const seen: string[] = [];
    const next = await bench.run([
      reading('phase2_workspace_diff.md'),
      (request) => {
        seen.push(lastResult(request));
        return finishing();
      },
    ]);
    expect(seen[0]).toContain(`- A ${NOTE}`);
    expect(next).toMatchObject({ kind: 'published' });
    expect((await bench.heads.read(USER)).pendingNotes).toEqual([]);
    expect(await bench.run()).toMatchObject({ kind: 'unchanged' });
  });
});

it('writes two files, one manifest and one switch where a run changes two files of many', async () => {
  const bench = await benchWith('t1', 't2', 't3');
  await bench.goodRun('t1', 't2', 't3');
  await bench.publishSmall('edit', { 'extensions/team/rules.md': 'be kind' });
  const put = vi.spyOn(bench.memories, 'putFile');
  const manifests = vi.spyOn(bench.memories, 'putManifest');
  const switches = vi.spyOn(bench.heads, 'switchTo');
  const result = await bench.run([
    writing('MEMORY.md', bench.goodMemory(['t1', 't2', 't3'], ['Be kind [Task 1]'])),
    writing('memory_summary.md', SUMMARY_TEXT.replace('Works in one project.', 'Works in one project, kindly.')),
    finishing(),
  ]);
  expect(result).toMatchObject({ kind: 'published' });
  expect(put.mock.calls.map(([, path]) => path).sort()).toEqual(['MEMORY.md', 'memory_summary.md']);
  expect([manifests.mock.calls.length, switches.mock.calls.length]).toEqual([1, 1]);
});

describe('a thread that is forgotten while a run is at work', () => {
  it('B29 is not in the version, though it was not in the base either', async () => {
    const bench = await benchWith('t1', 't2');
    const result = await bench.run([
      writing('MEMORY.md', bench.goodMemory(['t1', 't2'])),
      writing('memory_summary.md', SUMMARY_TEXT),
      async () => {
        await bench.threads.update(USER, 't2', (thread) => (thread ? { ...thread, forgottenAt: NOW } : undefined));
        return finishing();
      },
      ...bench.goodScript('t1'),
    ]);
    expect(result).toMatchObject({ kind: 'published', added: ['t1'] });
    expect(JSON.stringify(await bench.files())).not.toContain('t2');
  });
});

describe("ends that are nobody's fault", () => {
  const job = (bench: ConsolidationBench) => bench.jobs.get(USER, { kind: 'consolidation' });

  it("over the day's budget waits for the next day in UTC and spends no retry", async () => {
    const bench = await benchWith('t1');
    const settings = { ...DEFAULT_SETTINGS, dailyTokenBudget: 10 };
    expect(await bench.run([], { settings })).toMatchObject({ kind: 'failed', code: 'budget.daily_tokens' });
    expect(await job(bench)).toMatchObject({
      status: 'error',
      lastError: 'budget.daily_tokens',
      retryAt: NOW + DAY_MS - (NOW % DAY_MS),
      retryRemaining: 3,
    });
  });

  it('a deadline lets the next run go on at once with what was paid', async () => {
    const bench = await benchWith('t1');
    const [first, ...rest] = bench.goodScript('t1');
    const deadline = NOW + LIMITS.agentCallTimeoutMs;
    const stopped = await bench.run(
      [
        () => {
          bench.clock.advance(1);
          return first ?? finishing();
        },
      ],
      { deadline },
    );
    expect(stopped).toMatchObject({ kind: 'failed', code: 'agent.deadline', turns: 1 });
    expect(await job(bench)).toMatchObject({ retryAt: NOW + 1, retryRemaining: 3 });
    expect(await bench.run(rest, { immediate: false })).toMatchObject({ kind: 'published', turns: 3 });
    expect(bench.ledger.calls(USER)).toHaveLength(3);
  });

  it('a failure of the provider keeps the paid turns for the next run, an hour later', async () => {
    const bench = await benchWith('t1');
    const [first, ...rest] = bench.goodScript('t1');
    const failed = await bench.run([first ?? finishing(), { kind: 'unavailable', code: 'http_503' }]);
    expect(failed).toMatchObject({ kind: 'failed', code: 'model.unavailable', detail: 'http_503' });
    expect(await job(bench)).toMatchObject({ retryAt: NOW + LIMITS.retryDelayMs, retryRemaining: 2 });
    bench.clock.advance(LIMITS.retryDelayMs);
    expect(await bench.run(rest, { immediate: false })).toMatchObject({ kind: 'published', turns: 3 });
  });
});

it('B17 shows a run nothing of another user', async () => {
  const bench = await benchWith('t1');
  const { model } = await bench.goodRun('t1');
  const other = await bench.run([], { userKey: 'u2' });
  expect(other).toMatchObject({ kind: 'nothing' });
  expect(JSON.stringify(model.requests)).not.toContain('u2');
});

it('A6 takes over a job whose holder died, when its lease has ended', async () => {
  const bench = await benchWith('t1');
  await bench.jobs.claim(
    USER,
    { kind: 'consolidation' },
    { token: 'dead', now: NOW, leaseMs: LIMITS.consolidationLeaseMs },
  );
  expect(await bench.run([], { immediate: false })).toMatchObject({ kind: 'refused', reason: 'running' });
  bench.clock.advance(LIMITS.consolidationLeaseMs);
  expect(await bench.run(bench.goodScript('t1'), { immediate: false })).toMatchObject({ kind: 'published' });
});

describe('C24 two holders whose clocks differ', () => {
  const MINUTES_5 = 5 * MINUTE_MS;

  it.each([-MINUTES_5, MINUTES_5].flatMap((skewMs) => [0, 1, 2].map((turn) => [skewMs, turn] as const)))(
    'by %i ms, the second one starting in turn %i of the first, never both commit',
    async (skewMs, turn) => {
      const bench = await benchWith('t1');
      const clock = new FixedClock(NOW - skewMs);
      let second: ConsolidationResult | undefined;
      const script = bench.goodScript('t1').map((reply, at) => async () => {
        if (at !== turn) return reply;
        const model = new ScriptedModel(bench.goodScript('t1'));
        // Its own clock, and steps of its own: nothing but the job and the head stands between the two.
        const ports = { ...bench.ports(model), clock: bench.clock, steps: new MemoryStepRunner() };
        second = await consolidate(ports, { userKey: USER, settings: DEFAULT_SETTINGS, model: 'm', immediate: true });
        return reply;
      });
      const ports = { ...bench.ports(new ScriptedModel(script)), clock };
      // Its script need not be used up: where it is overtaken it makes no further call.
      const first = await consolidate(ports, {
        userKey: USER,
        settings: DEFAULT_SETTINGS,
        model: 'm',
        immediate: true,
      });
      const ends = [first, second].map((end) => end?.kind);
      expect(ends.filter((kind) => kind === 'published')).toHaveLength(1);
      expect(await bench.memories.manifestNumbers(USER)).toEqual([1]);
      // The clock of the second is ahead by a whole lease: it takes over. Else it is refused.
      expect(ends).toEqual(skewMs > 0 ? ['failed', 'published'] : ['published', 'refused']);
    },
  );
});

it('C24 keeps its lease while it reads a long history slowly', async () => {
  const bench = await benchWith('t1');
  for (let at = 0; at < 40; at++) await bench.publishSmall('edit', { 'extensions/a/b.md': `text ${at}` });
  const claims: string[] = [];
  const manifest = async (userKey: string, version: number) => {
    bench.clock.advance(10 * SECOND_MS);
    const request = { token: 'other', now: bench.clock.now(), leaseMs: 1, immediate: true };
    const claim = await bench.jobs.claim(userKey, { kind: 'consolidation' }, request);
    claims.push(claim.kind);
    return bench.memories.manifest(userKey, version);
  };
  const memories = new Proxy(bench.memories, {
    get: (target, key) => {
      if (key === 'manifest') return manifest;
      const method: unknown = Reflect.get(target, key);
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
  await bench.run(bench.goodScript('t1'), { ports: { memories } });
  expect(claims.length * 10 * SECOND_MS).toBeGreaterThan(LIMITS.consolidationLeaseMs);
  expect(new Set(claims)).toEqual(new Set(['refused']));
});

it('B18 makes at most one consolidation of many starts at once', async () => {
  const bench = await benchWith('t1');
  const [held, second, third] = await Promise.all([
    bench.run(bench.goodScript('t1'), { immediate: false }),
    bench.run([], { immediate: false }),
    bench.run([], { immediate: false }),
  ]);
  expect(held).toMatchObject({ kind: 'published', version: 1 });
  for (const other of [second, third]) expect(other).toMatchObject({ kind: 'refused', reason: 'running' });
});
