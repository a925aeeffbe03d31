import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import type { Job } from '../../../core/job/job.ts';
import { DEFAULT_SETTINGS, LIMITS } from '../../../core/settings.ts';
import { statusAnswer } from '../../../functions/read/schema-status.ts';
import { NOW, sampleHead, sampleJob, sampleThread } from '../../support/sample-state.ts';
import { readWorld } from './read-world.ts';

const USER = 'user-1';

function statusWorld() {
  const made = readWorld();
  const { table } = made.stageOne;
  return {
    ...made,
    addThread: async (threadId: string, job?: Partial<Job>, given: Parameters<typeof sampleThread>[0] = {}) => {
      await made.threads.update(USER, threadId, () => sampleThread({ threadId, ...given }));
      if (job !== undefined) table.setRow(USER, threadId, { job: sampleJob(job), head: null });
    },
    consolidation: (job: Partial<Job>) => table.consolidations.set(USER, sampleJob(job)),
    output: (generatedAt: number) => {
      const head = sampleHead({ threadId: 'output', generatedAt });
      table.setRow(USER, 'output', { job: sampleJob({ status: 'done' }), head });
    },
    health: async () => z.parse(statusAnswer, (await made.ask('/v1/status')).json).health,
  };
}

const DONE = { status: 'done', successWatermark: NOW, outcome: { kind: 'extracted' } } as const;
const FAILED = { status: 'error', retryRemaining: 0, outcome: { kind: 'failed', reason: 'too_large' } } as const;

describe('GET /healthz', () => {
  it('answers without a token and without touching a store', async () => {
    const { ask } = readWorld({
      identify: () => {
        throw new Error('asked who it is');
      },
    });
    expect((await ask('/healthz')).json).toEqual({ status: 'ok' });
  });
});

describe('GET /v1/status', () => {
  it('shows zeros to a new user', async () => {
    expect((await readWorld().ask('/v1/status')).json).toEqual({
      threads: { total: 0, by_outcome: {}, redactions: {} },
      extraction: { queued: 0, running: 0, failed: 0, deferred: 0, oldest_queued_at: null },
      consolidation: { status: 'none', last_success_at: null, last_error: null, next_at: null, stale: false },
      memory: { version: 0, published_at: null, bytes: 0, files: 0 },
      usage: {
        today: { input_tokens: 0, cached_tokens: 0, output_tokens: 0, calls: 0 },
        budget: DEFAULT_SETTINGS.dailyTokenBudget,
      },
      health: 'ok',
    });
  });

  it('counts every outcome and state, the waiting apart from the dead', async () => {
    const made = statusWorld();
    await made.addThread('a', DONE);
    await made.addThread('b', { ...DONE, outcome: { kind: 'no_output' } });
    await made.addThread('c', { outcome: { kind: 'skipped', reason: 'too_short' } });
    await made.addThread('d', { outcome: { kind: 'skipped', reason: 'too_short' } });
    await made.addThread('e', { outcome: { kind: 'deferred', reason: 'budget' } });
    await made.addThread('f', FAILED);
    await made.addThread('g', { ...FAILED, retryAt: NOW + 5, retryRemaining: 2 });
    await made.addThread('h', { status: 'running', leaseUntil: NOW + 5 });
    const rollout = { ...sampleThread().rollout, uploadedAt: NOW - 90_000 };
    const reading = { broken: 0, oversized: 0, tornTail: false };
    await made.addThread('i', undefined, { rollout, reading: { ...reading, redactions: { jwt: 1, named_secret: 2 } } });
    await made.addThread('j', undefined, { reading: { ...reading, redactions: { named_secret: 5 } } });
    await made.addThread('k', FAILED, { forgottenAt: NOW, reading: { ...reading, redactions: { jwt: 9 } } });
    expect((await made.ask('/v1/status')).json).toMatchObject({
      threads: {
        total: 10,
        redactions: { jwt: 1, named_secret: 7 },
        by_outcome: {
          extracted: 1,
          no_output: 1,
          'skipped(too_short)': 2,
          'deferred(budget)': 1,
          'failed(too_large)': 2,
          pending: 3,
        },
      },
      extraction: { queued: 3, running: 1, failed: 1, deferred: 1, oldest_queued_at: '2025-10-09T08:51:50+00:00' },
      health: 'degraded',
    });
  });

  it('counts thousands of threads', async () => {
    const made = statusWorld();
    for (let at = 0; at < 2_001; at++) await made.addThread(`t${at}`, at % 2 === 0 ? DONE : undefined);
    expect((await made.ask('/v1/status')).json).toMatchObject({
      threads: { total: 2_001, by_outcome: { extracted: 1_001, pending: 1_000 } },
    });
  });

  it('shows the version, its size, and when it was consolidated, also below a note', async () => {
    const made = statusWorld();
    await made.publish({ 'MEMORY.md': 'é\n' }, { now: NOW - 60_000 });
    await made.publish({ 'MEMORY.md': 'é\n', 'extensions/ad_hoc/notes/n.md': 'n' }, { reason: 'note' });
    expect((await made.ask('/v1/status')).json).toMatchObject({
      consolidation: { last_success_at: '2025-10-09T08:52:20+00:00' },
      memory: { version: 2, published_at: '2025-10-09T08:53:20+00:00', bytes: 4, files: 2 },
    });
  });

  it('shows what the day has cost, of which budget', async () => {
    const made = statusWorld();
    made.settings.set(USER, { ...DEFAULT_SETTINGS, dailyTokenBudget: 500 });
    const call = { purpose: 'extraction', subject: 't', model: 'm', tokens: 50, dailyLimit: 500 } as const;
    await made.ledger.reserve(USER, { ...call, callId: '1', now: NOW });
    await made.ledger.reserve(USER, { ...call, callId: '2', now: NOW - 86_400_000 });
    const usage = { inputTokens: 30, cachedInputTokens: 10, cacheWriteInputTokens: 0, outputTokens: 7 };
    await made.ledger.settle(USER, '1', { ...usage, reasoningOutputTokens: 2, totalTokens: 37 });
    expect((await made.ask('/v1/status')).json).toMatchObject({
      usage: { today: { input_tokens: 30, cached_tokens: 10, output_tokens: 7, calls: 1 }, budget: 500 },
    });
  });

  const UPLOADED = (agoMs: number) => ({ rollout: { ...sampleThread().rollout, uploadedAt: NOW - agoMs } });
  const DUE = { inputWatermark: 2, successWatermark: 1 };
  type World = ReturnType<typeof statusWorld>;
  it.each<[string, string, (made: World) => unknown]>([
    ['ok', 'threads wait for less than a day', (made) => made.addThread('a', undefined, UPLOADED(LIMITS.staleQueueMs))],
    [
      'failing',
      'a thread waits for longer',
      (made) => made.addThread('a', undefined, UPLOADED(LIMITS.staleQueueMs + 1)),
    ],
    ['failing', 'threads failed and none was ever extracted', (made) => made.addThread('a', FAILED)],
    [
      'degraded',
      'a thread failed and another was extracted',
      async (made) => {
        await made.addThread('a', FAILED);
        await made.addThread('b', DONE);
      },
    ],
    [
      'degraded',
      'a thread is deferred',
      (made) => made.addThread('a', { outcome: { kind: 'deferred', reason: 'budget' } }),
    ],
    ['ok', 'a consolidation runs', (made) => made.consolidation({ ...DUE, status: 'running', leaseUntil: NOW + 1 })],
    [
      'degraded',
      'a consolidation failed and is retried',
      (made) => made.consolidation({ status: 'error', retryAt: NOW + 1 }),
    ],
    [
      'failing',
      'a consolidation failed for good',
      (made) => made.consolidation({ status: 'error', retryRemaining: 0 }),
    ],
    [
      'failing',
      'nobody runs the consolidation that is due',
      (made) => {
        made.output(NOW - LIMITS.staleConsolidationMs - 1);
        made.consolidation(DUE);
      },
    ],
    [
      'failing',
      'the manifest of the current version is gone',
      async (made) => {
        await made.publish({ 'MEMORY.md': 'x' });
        made.memories.shelf(USER).manifests.clear();
      },
    ],
  ])('is %s where %s', async (health, _, arrange) => {
    const made = statusWorld();
    await arrange(made);
    expect(await made.health()).toBe(health);
  });

  it('takes no parameters and needs a known caller', async () => {
    const { ask } = readWorld();
    expect((await ask('/v1/status?user=user-2')).json).toMatchObject({ code: 'http.unknown_field', field: 'user' });
    const denied = await ask('/v1/status', { headers: { authorization: 'Bearer nobody' } });
    expect(denied.status).toBe(401);
    expect(denied.headers.get('www-authenticate')).toBe('Bearer');
  });
});
