import { beforeEach, describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../core/agent/token-usage.ts';
import { UnavailableError } from '../../../core/errors.ts';
import { type Outcome, outcomeName } from '../../../core/extraction/outcome.ts';
import type { UsageLedger } from '../../../core/ports/usage-ledger.ts';
import { DEFAULT_SETTINGS, LIMITS } from '../../../core/settings.ts';
import type { Thread } from '../../../core/thread/thread.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, toDay } from '../../../core/time.ts';
import { MemoryRolloutStore } from '../../doubles/memory-rollout-store.ts';
import { textReply } from '../../doubles/scripted-model.ts';
import { codexRollout } from '../../support/rollout-builder.ts';
import { ExtractionBench, emptyReply, goodReply, MODEL, USER, usefulRollout } from './extraction-bench.ts';
import { makeThread, NOW, THREAD_ID } from './sample-session.ts';

let bench: ExtractionBench;
beforeEach(() => {
  bench = new ExtractionBench();
});

const USED = { ...NO_USAGE, inputTokens: 40, outputTokens: 2, totalTokens: 42 };
const UNCHANGED: Outcome = { kind: 'skipped', reason: 'unchanged' };

describe('extractThread, an output', () => {
  it('commits texts and head at the snapshot of the rollout, with one model call', async () => {
    const thread = await bench.add();
    bench.model.expect(goodReply());
    expect(await bench.run()).toEqual({ kind: 'extracted' });
    const ref = { threadId: THREAD_ID, sourceUpdatedAt: thread.updatedAt };
    expect(await bench.outputs.head(USER, THREAD_ID)).toEqual({
      ...ref,
      generatedAt: NOW,
      slug: 'fix-checkout',
      usageCount: null,
      lastUsage: null,
      selectedSnapshot: null,
      bytes: 28,
      model: MODEL,
      promptVersion: 'stage_one_system@2 stage_one_input@1',
    });
    expect((await bench.outputs.bodies(USER, [ref])).get(THREAD_ID)).toEqual({
      rawMemory: 'raw',
      rolloutSummary: '# Fixed the checkout test',
    });
    expect(await bench.job()).toMatchObject({ status: 'done', successWatermark: thread.updatedAt });
    expect((await bench.ledger.day(USER, '2026-03-03')).usage.totalTokens).toBe(13);
    expect(bench.model.requests).toHaveLength(1);
  });

  it('C-04 marks the consolidation due at the snapshot', async () => {
    const thread = await bench.add();
    bench.model.expect(goodReply());
    await bench.run();
    expect(await bench.consolidation()).toMatchObject({ status: 'pending', inputWatermark: thread.updatedAt });
  });

  it('writes in this order: counted, called, settled, still the owner, texts, commit, consolidation due', async () => {
    await bench.add();
    bench.model.expect(goodReply());
    await bench.run();
    const calls = ['jobs.claim', 'ledger.reserve', 'model.respond', 'ledger.settle'];
    expect(bench.log.filter((call) => !/\.(get|head|open)$/.test(call))).toEqual([
      ...calls,
      'jobs.heartbeat',
      'outputs.putBody',
      'jobs.complete',
      'jobs.enqueueConsolidation',
    ]);
  });

  it('D22 makes no call for the same snapshot, keeps its outcome, and replaces it when the session goes on', async () => {
    const thread = await bench.add();
    bench.model.expect(goodReply());
    await bench.run();
    expect(await bench.run()).toEqual(UNCHANGED);
    expect((await bench.job())?.outcome).toEqual({ kind: 'extracted' });
    await bench.add({ updatedAt: thread.updatedAt + MINUTE_MS });
    bench.model.expect(goodReply('# Went on'));
    expect(await bench.run()).toEqual({ kind: 'extracted' });
    const head = await bench.outputs.head(USER, THREAD_ID);
    expect(head?.sourceUpdatedAt).toBe(thread.updatedAt + MINUTE_MS);
    bench.model.assertDone();
  });

  it('D22 ignores an older state that arrives late', async () => {
    const thread = await bench.add();
    bench.model.expect(goodReply());
    await bench.run();
    await bench.add({ updatedAt: thread.updatedAt - 1 });
    expect(await bench.run()).toEqual(UNCHANGED);
  });

  it('counts the call of every claim of one snapshot', async () => {
    await bench.add();
    for (const claim of [1, 2]) {
      bench.model.expect(textReply('nothing to say', USED));
      expect(await bench.run()).toMatchObject({ kind: 'failed', reason: 'model_invalid' });
      expect(await bench.ledger.day(USER, toDay(NOW))).toMatchObject({
        calls: claim,
        usage: { totalTokens: claim * USED.totalTokens },
      });
      bench.clock.advance(HOUR_MS);
    }
  });

  it('keeps with the thread what was met in its rollout, redactions by kind', async () => {
    const key = ['gh', 'p_', 'a1B2'.repeat(9)].join('');
    const rollout = usefulRollout().line('{broken').user(`use ${key} there`);
    await bench.add({}, rollout.toBytes());
    bench.model.expect(goodReply());
    await bench.run();
    const thread = await bench.threads.get(USER, THREAD_ID);
    expect(thread?.reading).toEqual({ broken: 1, oversized: 0, tornTail: false, redactions: { github_token: 1 } });
    expect(bench.telemetry.counts).toContainEqual({
      name: 'stillroom.redactions',
      value: 1,
      tags: { memory_version: 'v1', secret_kind: 'github_token' },
    });
  });

  it('emits what it came to', async () => {
    await bench.add();
    bench.model.expect(goodReply());
    await bench.run();
    const statuses = bench.telemetry.counts.filter((count) => count.name === 'stillroom.phase1');
    expect(statuses.map((count) => count.tags['status'])).toEqual(['claimed', 'succeeded']);
    expect(bench.telemetry.total('stillroom.phase1.output')).toBe(1);
  });
});

describe('extractThread, no output', () => {
  it('C-06 without an earlier output: job done, nothing written, no consolidation, no second call', async () => {
    await bench.add();
    bench.model.expect(emptyReply());
    expect(await bench.run()).toEqual({ kind: 'no_output' });
    expect(await bench.outputs.heads(USER)).toEqual([]);
    expect(await bench.consolidation()).toBeUndefined();
    expect(await bench.run()).toEqual(UNCHANGED);
    expect(bench.log).not.toContain('outputs.putBody');
  });

  it('C-07 with an earlier output: it goes, and the consolidation is due', async () => {
    const thread = await bench.add();
    bench.model.expect(goodReply(), emptyReply());
    await bench.run();
    await bench.add({ updatedAt: thread.updatedAt + 1 });
    expect(await bench.run()).toEqual({ kind: 'no_output' });
    expect(await bench.outputs.heads(USER)).toEqual([]);
    expect((await bench.consolidation())?.inputWatermark).toBe(thread.updatedAt + 1);
  });
});

describe('extractThread, skipped', () => {
  it.each<[string, Partial<Thread>]>([
    ['skipped(forgotten)', { forgottenAt: 1 }],
    ['skipped(ephemeral)', { ephemeral: true }],
    ['skipped(subagent)', { subagent: true }],
    ['skipped(source)', { source: 'memory_consolidation' }],
    ['skipped(disabled)', { memoryMode: 'disabled' }],
    ['skipped(polluted)', { memoryMode: 'polluted' }],
    ['skipped(too_old)', { updatedAt: NOW - 11 * DAY_MS }],
    ['skipped(not_idle)', { updatedAt: NOW - HOUR_MS }],
  ])('%s is recorded, without a claim or a call', async (name, more) => {
    await bench.add(more);
    const outcome = await bench.run({ maxAgeMs: 10 * DAY_MS });
    expect(outcomeName(outcome)).toBe(name);
    expect((await bench.job())?.outcome).toEqual(outcome);
    expect(bench.log.filter((call) => call === 'jobs.claim')).toEqual([]);
  });

  it('D23 takes an active session when asked to, and never the one that asks', async () => {
    await bench.add({ updatedAt: NOW - HOUR_MS });
    expect(await bench.run({ includeActive: true, currentThreadId: THREAD_ID })).toMatchObject({ reason: 'not_idle' });
    bench.model.expect(goodReply());
    expect(await bench.run({ includeActive: true })).toEqual({ kind: 'extracted' });
  });

  it('keeps the outcome of an extracted thread that grew old', async () => {
    await bench.add();
    bench.model.expect(goodReply());
    await bench.run();
    bench.clock.advance(20 * DAY_MS);
    expect(await bench.run({ maxAgeMs: 10 * DAY_MS })).toEqual(UNCHANGED);
    expect((await bench.job())?.outcome).toEqual({ kind: 'extracted' });
  });

  it('D23 skips a greeting as too short, once and for all', async () => {
    await bench.add({}, codexRollout({ id: THREAD_ID }).user('hi').assistant('Hello!').toBytes());
    expect(await bench.run()).toMatchObject({ kind: 'skipped', reason: 'too_short' });
    expect(await bench.run()).toEqual(UNCHANGED);
    expect((await bench.job())?.outcome).toMatchObject({ reason: 'too_short' });
  });

  it('fails for a thread that does not exist', async () => {
    await expect(bench.run()).rejects.toMatchObject({ code: 'thread.not_found' });
  });
});

describe('extractThread, outside content', () => {
  const settings = { ...DEFAULT_SETTINGS, disableOnExternalContext: true };
  const searched = usefulRollout().item({ type: 'web_search_call', status: 'completed' }).toBytes();

  it('marks the thread polluted, makes no call, and is due again when a person enables it', async () => {
    await bench.add({}, searched);
    expect(await bench.run({ settings })).toMatchObject({ kind: 'skipped', reason: 'polluted' });
    expect((await bench.threads.get(USER, THREAD_ID))?.memoryMode).toBe('polluted');
    expect(await bench.consolidation()).toBeUndefined();
    await bench.threads.setMemoryMode(USER, THREAD_ID, 'enabled');
    bench.model.expect(goodReply());
    expect(await bench.run()).toEqual({ kind: 'extracted' });
  });

  it('Q-03 has a consolidated output forgotten, and keeps its row', async () => {
    const thread = await bench.add();
    bench.model.expect(goodReply());
    await bench.run();
    await bench.outputs.markSelected(USER, [{ threadId: THREAD_ID, sourceUpdatedAt: thread.updatedAt }]);
    const before = (await bench.consolidation())?.inputWatermark ?? 0;
    await bench.add({ updatedAt: thread.updatedAt + 1 }, searched);
    expect(await bench.run({ settings })).toMatchObject({ reason: 'polluted' });
    expect((await bench.consolidation())?.inputWatermark).toBeGreaterThan(before);
    expect(await bench.outputs.heads(USER)).toHaveLength(1);
  });
});

describe('extractThread, a rollout that cannot be read', () => {
  it.each<[string, Uint8Array | null, Outcome]>([
    ['is gone', null, { kind: 'failed', reason: 'unreadable', detail: 'rollout.not_found' }],
    ['is a cut archive', new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0]), { kind: 'failed', reason: 'unreadable' }],
    [
      'is no rollout',
      new TextEncoder().encode('{"a":1}\n'.repeat(4_000)),
      { kind: 'failed', reason: 'unrecognised_format' },
    ],
  ])('fails for good when it %s', async (_case, rollout, expected) => {
    await bench.add({}, rollout);
    const outcome = await bench.run();
    expect(outcome).toMatchObject(expected);
    bench.clock.advance(30 * DAY_MS);
    expect(await bench.run()).toEqual(outcome);
    expect(bench.log.filter((call) => call === 'rollouts.open')).toHaveLength(1);
  });

  it('fails when it expands over the limit, and says so', async () => {
    const { gzipSync } = await import('node:zlib');
    bench.rollouts = new MemoryRolloutStore(1_000);
    await bench.add({}, gzipSync(usefulRollout().toBytes()));
    expect(await bench.run()).toEqual({ kind: 'failed', reason: 'too_large', detail: 'rollout.too_large' });
  });

  it('is read again when a newer rollout arrives', async () => {
    const thread = await bench.add({}, null);
    await bench.run();
    await bench.add({ updatedAt: thread.updatedAt + 1 });
    bench.model.expect(goodReply());
    expect(await bench.run()).toEqual({ kind: 'extracted' });
  });
});

describe('extractThread, failures of the model', () => {
  it('TC-087 retries an invalid answer after an hour, shows the failure until then, and gives up after three', async () => {
    await bench.add();
    bench.model.expect(textReply('nope'), textReply('nope'), textReply('nope'));
    const failed = { kind: 'failed', reason: 'model_invalid' };
    expect(await bench.run()).toMatchObject(failed);
    bench.clock.advance(HOUR_MS - 1);
    expect(await bench.run()).toMatchObject(failed);
    expect(bench.model.requests).toHaveLength(1);
    bench.clock.advance(1);
    await bench.run();
    bench.clock.advance(HOUR_MS);
    await bench.run();
    bench.clock.advance(HOUR_MS);
    const exhausted = { kind: 'failed', reason: 'exhausted', detail: 'the last time: model_invalid' };
    expect(await bench.run()).toEqual(exhausted);
    expect(await bench.run()).toEqual(exhausted);
    expect((await bench.job())?.outcome).toEqual(exhausted);
    expect(bench.model.requests).toHaveLength(3);
    expect(await bench.outputs.heads(USER)).toEqual([]);
  });

  it('C39 never asks again after a refusal, and keeps the reason', async () => {
    await bench.add();
    bench.model.expect({ kind: 'refused', usage: null });
    expect(await bench.run()).toMatchObject({ kind: 'failed', reason: 'model_refused' });
    bench.clock.advance(DAY_MS);
    expect(await bench.run()).toMatchObject({ kind: 'failed', reason: 'model_refused' });
  });

  it('A37 a wrong setting burns nothing: the thread is due as soon as it is repaired', async () => {
    await bench.add();
    for (let round = 0; round < 10; round++) {
      bench.model.expect({ kind: 'misconfigured', code: 'model_not_found' });
      expect(await bench.run()).toEqual({ kind: 'failed', reason: 'configuration', detail: 'model_not_found' });
    }
    bench.model.expect(goodReply());
    expect(await bench.run()).toEqual({ kind: 'extracted' });
    expect((await bench.ledger.day(USER, '2026-03-03')).usage.totalTokens).toBe(13);
  });

  it('A3 a session whose tokens are twice the estimate is shrunk and fits, and both its ends are kept', async () => {
    const rollout = codexRollout({ id: THREAD_ID }).user('the very first wish');
    for (let at = 0; at < 400; at++)
      rollout.call('shell', { command: `step ${at}` }, `{"密":[${at},${at}]}`.repeat(40));
    await bench.add({}, rollout.user('the very last wish').toBytes());
    const lengths: number[] = [];
    bench.model.expect(
      (request) => {
        lengths.push(JSON.stringify(request.items).length);
        return { kind: 'too_long' };
      },
      (request) => {
        const text = JSON.stringify(request.items);
        lengths.push(text.length);
        expect(text).toContain('the very first wish');
        expect(text).toContain('the very last wish');
        return goodReply();
      },
    );
    const window = { contextTokens: 100_000, effectivePercent: 95 };
    const outcome = await bench.run({ window });
    expect(outcome).toMatchObject({
      kind: 'extracted',
      detail: expect.stringMatching(/^evidence_tokens=\d+ model=model-1$/),
    });
    expect(lengths[1]).toBeLessThan((lengths[0] ?? 0) * 0.6);
  });

  it('DV-14 starts with the limit that was remembered', async () => {
    await bench.add({}, usefulRollout().user('x'.repeat(9_000)).toBytes());
    bench.model.expect((request) => {
      expect(JSON.stringify(request.items).length).toBeLessThan(3_500);
      return goodReply();
    });
    expect(await bench.run({ rememberedEvidenceTokens: 500 })).toEqual({ kind: 'extracted' });
  });

  it('gives the job back when a store fails, and passes the failure on', async () => {
    await bench.add();
    bench.model.expect(goodReply());
    const outputs = bench.ports().outputs;
    const full = new Proxy(outputs, {
      get: (target, key) =>
        key === 'putBody'
          ? () => Promise.reject(new UnavailableError('memory.write_failed', 'disk full'))
          : Reflect.get(target, key),
    });
    await expect(bench.run({}, { outputs: full })).rejects.toMatchObject({ code: 'memory.write_failed' });
    expect(await bench.job()).toMatchObject({
      status: 'error',
      lastError: 'memory.write_failed',
      retryAt: NOW + HOUR_MS,
    });
    expect(await bench.outputs.heads(USER)).toEqual([]);
  });
});

describe('extractThread, the budget', () => {
  it('A2 stops at the cap, resumes on the next days, loses nothing and pays for nothing twice', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    for (const threadId of ids) await bench.add({ threadId });
    const answer = textReply('{"raw_memory":"m","rollout_summary":"s"}', null);
    bench.model.expect(answer, answer, answer, answer, answer);
    const settings = { ...DEFAULT_SETTINGS, dailyTokenBudget: 20_000 };
    const days: Record<string, number>[] = [];
    for (const now of [NOW, Date.parse('2026-03-04T00:00:00Z'), Date.parse('2026-03-05T00:00:00Z')]) {
      bench.clock.set(now);
      const seen: Record<string, number> = {};
      for (const threadId of ids) {
        const name = outcomeName(await bench.run({ threadId, settings }));
        seen[name] = (seen[name] ?? 0) + 1;
      }
      days.push(seen);
    }
    expect(days).toEqual([
      { extracted: 2, 'deferred(budget)': 3 },
      { 'skipped(unchanged)': 2, extracted: 2, 'deferred(budget)': 1 },
      { 'skipped(unchanged)': 4, extracted: 1 },
    ]);
    bench.model.assertDone();
    expect(await bench.job('e')).toMatchObject({ status: 'done', retryRemaining: 3 });
  });
});

describe('extractThread, several workers', () => {
  it('C3 a second worker does not pay for what the first is at', async () => {
    await bench.add();
    let second: Outcome | undefined;
    bench.model.expect(async () => {
      second = await bench.run();
      return goodReply();
    });
    expect(await bench.run()).toEqual({ kind: 'extracted' });
    expect(second).toMatchObject({ kind: 'skipped', reason: 'unchanged' });
    expect(bench.model.requests).toHaveLength(1);
  });

  it('a worker that lost its lease writes nothing over the one that took over', async () => {
    await bench.add();
    bench.model.expect(async () => {
      bench.clock.advance(20 * MINUTE_MS);
      expect(await bench.run()).toEqual({ kind: 'extracted' });
      bench.clock.advance(MINUTE_MS);
      return goodReply('# From the late worker');
    }, goodReply('# From the second worker'));
    expect(await bench.run()).toEqual({ kind: 'extracted' });
    const heads = await bench.outputs.heads(USER);
    expect(heads[0]?.generatedAt).toBe(NOW + 20 * MINUTE_MS);
    const body = (await bench.outputs.bodies(USER, heads)).get(THREAD_ID);
    expect(body?.rolloutSummary).toBe('# From the second worker');
  });

  it('a thread that is forgotten meanwhile leaves no output', async () => {
    await bench.add();
    bench.model.expect(async () => {
      await bench.threads.update(USER, THREAD_ID, (stored) => stored && { ...stored, forgottenAt: NOW });
      return goodReply();
    });
    expect(await bench.run()).toEqual({ kind: 'skipped', reason: 'forgotten' });
    expect(await bench.outputs.heads(USER)).toEqual([]);
    expect(bench.log).not.toContain('outputs.putBody');
  });
});

describe('extractThread, killed at any moment', () => {
  const steps = [
    'jobs.claim',
    'rollouts.open',
    'ledger.reserve',
    'model.respond',
    'ledger.settle',
    'outputs.putBody',
    'jobs.complete',
    'jobs.enqueueConsolidation',
  ];

  it.each(steps)('after %s: nothing half is visible, and the next run completes it', async (step) => {
    const thread = await bench.add();
    bench.model.expect(goodReply(), goodReply());
    await expect(bench.run({}, bench.ports(step))).rejects.toThrow();
    const committed = steps.indexOf(step) >= steps.indexOf('jobs.complete');
    expect(await bench.outputs.heads(USER)).toHaveLength(committed ? 1 : 0);

    bench.clock.advance(20 * MINUTE_MS);
    expect(outcomeName(await bench.run())).toBe(committed ? 'skipped(unchanged)' : 'extracted');
    expect((await bench.job())?.outcome).toEqual({ kind: 'extracted' });
    const heads = await bench.outputs.heads(USER);
    expect((await bench.outputs.bodies(USER, heads)).size).toBe(1);
    expect(await bench.consolidation()).toMatchObject({ status: 'pending', inputWatermark: thread.updatedAt });
    const paid = steps.indexOf(step) >= steps.indexOf('model.respond');
    expect(bench.model.requests).toHaveLength(!committed && paid ? 2 : 1);
  });

  it('a store that hangs is given up in time for the whole run, its settling and its writes together', async () => {
    await bench.add();
    bench.model.expect(goodReply());
    const tries: string[] = [];
    const hang = (name: string, ms: number) => async (): Promise<never> => {
      tries.push(name);
      bench.clock.advance(ms);
      throw new UnavailableError('table.unavailable', 'timed out');
    };
    const ports = bench.ports();
    let slow = 2;
    const settle = async (...args: Parameters<UsageLedger['settle']>): Promise<void> => {
      if (slow-- > 0) return hang('settle', 6_000)();
      return bench.ledger.settle(...args);
    };
    const ledger: UsageLedger = { reserve: ports.ledger.reserve, day: ports.ledger.day, settle };
    const outputs = Object.assign(Object.create(ports.outputs), { putBody: hang('putBody', 6_000) });
    await expect(bench.run({}, { ledger, outputs })).rejects.toMatchObject({ code: 'table.unavailable' });
    expect(tries).toEqual(['settle', 'settle', 'putBody', 'putBody']);
    expect(bench.clock.now() - NOW).toBeLessThan(LIMITS.extractionReserveMs);
    expect(await bench.job()).toMatchObject({ status: 'error', lastError: 'table.unavailable' });
  });

  it('a run that dies again and again is refused as exhausted at the sixth claim', async () => {
    await bench.add();
    for (let round = 0; round < 5; round++) {
      await expect(bench.run({}, bench.ports('rollouts.open'))).rejects.toThrow();
      bench.clock.advance(20 * MINUTE_MS);
    }
    expect(await bench.run()).toMatchObject({ kind: 'failed', reason: 'exhausted' });
    expect(await bench.job()).toMatchObject({ status: 'error', outcome: { reason: 'exhausted' } });
  });

  it('does not mark the consolidation due again for an output that a later one did not choose', async () => {
    await bench.add();
    bench.model.expect(goodReply());
    await bench.run();
    bench.clock.advance(1);
    await bench.jobs.claim(USER, { kind: 'consolidation' }, { token: 'c', now: bench.clock.now(), leaseMs: 1 });
    await bench.jobs.complete(USER, 'c', bench.clock.now(), { kind: 'consolidation', completedWatermark: NOW });
    await bench.run();
    expect((await bench.consolidation())?.status).toBe('done');
  });
});

describe('extractThread, secrets and content', () => {
  const SECRET = `ghp_${'Zx9'.repeat(12)}`;

  it('a secret in a message, a tool output, a path or an answer is nowhere: request, texts, head, job, telemetry', async () => {
    const rollout = codexRollout({ id: THREAD_ID, cwd: `/home/dev/${SECRET}` })
      .user(`use the token ${SECRET} please`)
      .call('shell', { command: 'env' }, `GITHUB_TOKEN=${SECRET}`)
      .assistant(`I use ${SECRET}`)
      .user('thanks');
    const path = `/uploads/${SECRET}/r.jsonl`;
    await bench.add({ cwd: `/home/${SECRET}`, rollout: { ...makeThread().rollout, path } }, rollout.toBytes());
    bench.model.expect(
      textReply(JSON.stringify({ raw_memory: `a ${SECRET}`, rollout_summary: `# b ${SECRET}`, rollout_slug: SECRET })),
    );
    expect(await bench.run()).toEqual({ kind: 'extracted' });
    const all = await bench.everything();
    expect(all).toContain('[REDACTED_SECRET]');
    expect(all.toLowerCase()).not.toContain(SECRET.slice(4, 24).toLowerCase());
  });

  it('B31 what the session says is in no job and no telemetry, however it ends', async () => {
    const marker = 'zanzibar-marker';
    await bench.add({ title: marker, cwd: `/home/${marker}` }, usefulRollout().user(marker).toBytes());
    bench.model.expect(textReply(`{"${marker}": 1}`));
    await bench.run();
    bench.clock.advance(HOUR_MS);
    bench.model.expect(() => {
      throw new Error(`cannot reach the host for ${marker}`);
    });
    await expect(bench.run()).rejects.toThrow();
    const { counts, values, events } = bench.telemetry;
    expect(JSON.stringify([counts, values, events, await bench.job()])).not.toContain(marker);
    expect(await bench.job()).toMatchObject({ status: 'error', lastError: 'extraction.defect' });
  });
});
