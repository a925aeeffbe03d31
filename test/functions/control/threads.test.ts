import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../core/settings.ts';
import { HOUR_MS } from '../../../core/time.ts';
import { NOW, sampleHead, sampleJob } from '../../support/sample-state.ts';
import { controlWorld } from './control-world.ts';

type World = ReturnType<typeof controlWorld>;

async function putOutcomes(world: World): Promise<void> {
  await world.putThread('a-new');
  await world.putThread('b-short');
  await world.putThread('c-extracted');
  await world.putThread('d-forgotten', { forgottenAt: NOW });
  const ended = { status: 'done', successWatermark: NOW } as const;
  const rows = {
    'b-short': sampleJob({
      ...ended,
      outcome: { kind: 'skipped', reason: 'too_short', detail: '40 bytes, at least 100' },
    }),
    'c-extracted': sampleJob({ ...ended, outcome: { kind: 'extracted' } }),
    'd-forgotten': sampleJob({ ...ended, outcome: { kind: 'skipped', reason: 'forgotten' } }),
  };
  for (const [threadId, job] of Object.entries(rows)) world.table.setRow('user-1', threadId, { job, head: null });
}

function idsOf(json: unknown): unknown[] {
  const { threads } = json as { threads: { thread_id: unknown }[] };
  return threads.map((thread) => thread.thread_id);
}

describe('GET /v1/threads', () => {
  it('tells of every thread what became of it and why, and of no forgotten one', async () => {
    const world = controlWorld();
    await putOutcomes(world);
    const answer = await world.ask('/v1/threads');
    expect(answer.json).toMatchObject({
      threads: [
        { thread_id: 'a-new', outcome: 'pending', state: 'queued' },
        { thread_id: 'b-short', outcome: 'skipped(too_short)', outcome_detail: '40 bytes, at least 100' },
        { thread_id: 'c-extracted', outcome: 'extracted', state: 'settled' },
      ],
      next_cursor: null,
    });
  });

  it.each([
    ['extracted', ['c-extracted']],
    ['skipped', ['b-short']],
    ['skipped(too_short)', ['b-short']],
    ['skipped(forgotten)', []],
    ['pending', ['a-new']],
    ['failed', []],
  ])('finds by the outcome %s', async (outcome, ids) => {
    const world = controlWorld();
    await putOutcomes(world);
    const answer = await world.ask(`/v1/threads?outcome=${encodeURIComponent(outcome)}`);
    expect(idsOf(answer.json)).toEqual(ids);
  });

  it.each(['', '&outcome=pending'])('shows each of 250 threads on exactly one page%s', async (more) => {
    const world = controlWorld();
    const ids = Array.from({ length: 250 }, (_, at) => `t-${String(at).padStart(3, '0')}`);
    for (const id of ids) await world.putThread(id);
    const seen: unknown[] = [];
    let cursor = '';
    for (let page = 0; page < 3; page++) {
      const { json } = await world.ask(`/v1/threads?${cursor}${more}`);
      seen.push(...idsOf(json));
      cursor = `cursor=${(json as { next_cursor: string }).next_cursor}`;
    }
    expect(seen).toEqual(ids);
    expect(cursor).toBe('cursor=null');
  });

  it.each(['cursor=..', 'cursor=a%2Fb', 'outcome=A', 'outcome=', 'limit=3', 'user=user-2'])(
    'refuses ?%s',
    async (query) => {
      expect((await controlWorld().ask(`/v1/threads?${query}`)).status).toBe(400);
    },
  );
});

describe('GET /v1/threads/{id}', () => {
  it('tells all that is known: outcome, what was learned, use, and the versions that rest on it', async () => {
    const world = controlWorld();
    await world.putThread('t-1', { title: 'fix the test' });
    const head = sampleHead({ threadId: 't-1', usageCount: 3, lastUsage: NOW, selectedSnapshot: NOW - 3_600_000 });
    const job = sampleJob({ status: 'done', attempts: 1, successWatermark: NOW, outcome: { kind: 'extracted' } });
    world.table.setRow('user-1', 't-1', { job, head });
    await world.outputs.putBody('user-1', head, { rawMemory: 'use pnpm', rolloutSummary: 'fixed a test' });
    const inputs = [{ threadId: 't-1', sourceUpdatedAt: head.sourceUpdatedAt }];
    await world.publish({ 'MEMORY.md': 'one\n' });
    const two = await world.publish({ 'MEMORY.md': 'two\n' }, { inputs });
    const three = await world.publish({ 'MEMORY.md': 'three\n' }, { inputs, reason: 'edit' });
    await world.publish({ 'MEMORY.md': 'four\n' });
    expect((await world.ask('/v1/threads/t-1')).json).toMatchObject({
      thread_id: 't-1',
      title: 'fix the test',
      outcome: 'extracted',
      output: { raw_memory: 'use pnpm', rollout_summary: 'fixed a test', model: 'model' },
      usage_count: 3,
      last_usage: '2025-10-09T08:53:20+00:00',
      selected: true,
      in_versions: [three, two],
      extraction: { attempts: 1, last_error: null, next_at: null },
    });
  });

  it('says when a failure is tried again', async () => {
    const world = controlWorld();
    await world.putThread('t-1');
    const outcome = { kind: 'failed', reason: 'model_unavailable', detail: 'timeout' } as const;
    const job = sampleJob({
      status: 'error',
      retryAt: NOW + HOUR_MS,
      retryRemaining: 2,
      lastError: 'model.timeout',
      outcome,
    });
    world.table.setRow('user-1', 't-1', { job, head: null });
    expect((await world.ask('/v1/threads/t-1')).json).toMatchObject({
      outcome: 'failed(model_unavailable)',
      state: 'queued',
      output: null,
      extraction: { retries_left: 2, last_error: 'model.timeout', next_at: '2025-10-09T09:53:20+00:00' },
    });
  });

  it.each(['unknown', '..%20', 'gone', '%E4', 't'.repeat(200)])('answers 404 for %s', async (id) => {
    const world = controlWorld();
    await world.putThread('gone', { forgottenAt: NOW });
    for (const method of ['GET', 'PATCH']) {
      const body = method === 'PATCH' ? { body: { memory_mode: 'enabled' } } : {};
      const answer = await world.ask(`/v1/threads/${encodeURIComponent(id)}`, { method, ...body });
      expect([answer.status, answer.json]).toMatchObject([404, { code: 'thread.not_found' }]);
    }
  });
});

describe('PATCH /v1/threads/{id}', () => {
  it('changes the memory mode, and has what must leave the memory taken out', async () => {
    const world = controlWorld();
    await world.putThread('t-1');
    world.table.setRow('user-1', 't-1', {
      job: sampleJob({ status: 'done' }),
      head: sampleHead({ threadId: 't-1', selectedSnapshot: 1 }),
    });
    const answer = await world.ask('/v1/threads/t-1', { method: 'PATCH', body: { memory_mode: 'disabled' } });
    expect(answer.json).toMatchObject({ thread_id: 't-1', memory_mode: 'disabled' });
    expect((await world.jobs.get('user-1', { kind: 'consolidation' }))?.status).toBe('pending');
  });

  it.each([
    [400, { memory_mode: 'off' }],
    [400, {}],
    [400, { memory_mode: 'disabled', forgotten_at: null }],
  ])('answers %s to %j', async (status, body) => {
    const world = controlWorld();
    await world.putThread('t-1');
    expect((await world.ask('/v1/threads/t-1', { method: 'PATCH', body })).status).toBe(status);
  });
});

describe('POST /v1/threads/{id}/extract', () => {
  it('marks the thread as asked for, makes it due and hands it on', async () => {
    const world = controlWorld();
    await world.putThread('t-1', { ended: false });
    const answer = await world.ask('/v1/threads/t-1/extract', { method: 'POST' });
    expect([answer.status, answer.json]).toEqual([202, { thread_id: 't-1' }]);
    expect((await world.threads.get('user-1', 't-1'))?.requestedAt).toBe(NOW);
    expect((await world.jobs.get('user-1', { kind: 'extraction', threadId: 't-1' }))?.wakeAt).toBe(NOW);
    expect(world.queue.drain()).toEqual([{ kind: 'thread-due', userKey: 'user-1', threadId: 't-1' }]);
  });

  it('answers 404 for what is not there or forgotten, and queues nothing', async () => {
    const world = controlWorld();
    await world.putThread('gone', { forgottenAt: NOW });
    for (const id of ['gone', 'unknown'])
      expect((await world.ask(`/v1/threads/${id}/extract`, { method: 'POST' })).status).toBe(404);
    expect(world.queue.drain()).toEqual([]);
  });
});

describe('DELETE /v1/threads/{id}', () => {
  it('A23 forgets: gone from every read at once, also after it is uploaded again', async () => {
    const world = controlWorld();
    await world.putThread('t-1');
    world.table.setRow('user-1', 't-1', {
      job: sampleJob({ status: 'done' }),
      head: sampleHead({ threadId: 't-1', selectedSnapshot: 1 }),
    });
    const answer = await world.ask('/v1/threads/t-1', { method: 'DELETE' });
    expect(answer.json).toEqual({
      thread_id: 't-1',
      forgotten_at: '2025-10-09T08:53:20+00:00',
      consolidation_due: true,
      version: null,
    });
    expect((await world.ask('/v1/threads/t-1')).status).toBe(404);
    expect(idsOf((await world.ask('/v1/threads')).json)).toEqual([]);
    expect((await world.ask('/v1/rollouts/t-1', { method: 'PUT', raw: 'x' })).status).toBe(409);
    world.clock.advance(HOUR_MS);
    const again = await world.ask('/v1/threads/t-1', { method: 'DELETE' });
    expect(again.json).toMatchObject({ forgotten_at: '2025-10-09T08:53:20+00:00' });
  });

  it('takes the history along where that is asked for, and refuses other words', async () => {
    const world = controlWorld();
    await world.putThread('t-1');
    expect((await world.ask('/v1/threads/t-1?history=all', { method: 'DELETE' })).status).toBe(400);
    expect((await world.ask('/v1/threads/t-1')).status).toBe(200);
    expect((await world.ask('/v1/threads/t-1?history=purge', { method: 'DELETE' })).status).toBe(200);
  });

  it('answers 404 for what never was, and 400 for what is no id', async () => {
    const { ask } = controlWorld();
    expect((await ask('/v1/threads/unknown', { method: 'DELETE' })).status).toBe(404);
    expect((await ask('/v1/threads/a%20b', { method: 'DELETE' })).status).toBe(400);
  });
});

describe('POST /v1/redrive', () => {
  it('makes failed extractions due again and hands all of them on, once', async () => {
    const world = controlWorld();
    for (let at = 0; at < 25; at++) {
      const job = sampleJob({ status: 'error', retryRemaining: 0, attempts: LIMITS.maxAttempts });
      world.table.setRow('user-1', `t-${at}`, { job, head: null });
    }
    world.table.setRow('user-1', 'fine', { job: sampleJob({ status: 'done' }), head: null });
    expect((await world.ask('/v1/redrive', { method: 'POST' })).json).toEqual({ redriven: 25 });
    expect(new Set(world.queue.drain().map(({ threadId }) => threadId)).size).toBe(25);
    expect((await world.ask('/v1/redrive', { method: 'POST' })).json).toEqual({ redriven: 0 });
    expect(world.queue.drain()).toEqual([]);
  });
});
