import { describe, expect, it } from 'vitest';
import { UnavailableError } from '../../../core/errors.ts';
import { sha256Hex } from '../../../core/ids.ts';
import { DAY_MS, MINUTE_MS } from '../../../core/time.ts';
import { NOW, sampleHead, sampleJob } from '../../support/sample-state.ts';
import { controlWorld } from './control-world.ts';

describe('/v1/settings', () => {
  it('shows the defaults, keeps what is changed and puts numbers into their range', async () => {
    const { ask } = controlWorld();
    const before = await ask('/v1/settings');
    expect(before.json).toMatchObject({ use_memories: true, max_unused_days: 30 });
    const body = { use_memories: false, max_unused_days: 9_999, extract_model: 'small' };
    const after = await ask('/v1/settings', { method: 'PATCH', body });
    expect(after.json).toEqual({ ...(before.json as object), ...body, max_unused_days: 365 });
    expect((await ask('/v1/settings')).json).toEqual(after.json);
  });

  it.each([
    ['settings.unknown_key', { user_id: 'user-2' }],
    ['settings.invalid_value', { use_memories: 'yes' }],
    ['settings.not_an_object', []],
    ['settings.invalid_value', { allowed_sources: ['internal'] }],
  ])('answers 400 %s to %j and changes nothing', async (code, body) => {
    const { ask, settings } = controlWorld();
    const before = await settings.read('user-1');
    expect(await ask('/v1/settings', { method: 'PATCH', body })).toMatchObject({ status: 400, json: { code } });
    expect(await settings.read('user-1')).toEqual(before);
  });
});

describe('/v1/consolidations', () => {
  it('C18 starts a run and answers at once; two quick requests are one run', async () => {
    const { ask, consolidations, clock } = controlWorld();
    const first = await ask('/v1/consolidations', { method: 'POST' });
    clock.advance(3_000);
    const second = await ask('/v1/consolidations', { method: 'POST' });
    expect([first.status, second.json]).toEqual([202, first.json]);
    expect(consolidations.started).toEqual([{ userKey: 'user-1', dueAt: NOW, immediate: true }]);
    expect(first.headers['location']).toBe(`/v1/consolidations/${NOW}`);
    clock.advance(MINUTE_MS);
    await ask('/v1/consolidations', { method: 'POST' });
    expect(consolidations.started).toHaveLength(2);
  });

  it('runs again at once where the first run has ended, and answers for the second one (C18)', async () => {
    const { ask, consolidations, clock, table, publish } = controlWorld();
    const post = async () => (await ask('/v1/consolidations', { method: 'POST' })).json;
    const set = (job: object) => table.consolidations.set('user-1', sampleJob(job));
    const first = await post();
    set({ status: 'running', startedAt: NOW + 100, finishedAt: null, leaseUntil: NOW + MINUTE_MS });
    clock.advance(1_000);
    expect(await post()).toEqual(first);
    expect(consolidations.started).toHaveLength(1);

    await publish({ 'MEMORY.md': 'one\n' }, { reason: 'consolidation', now: NOW + 1_900 });
    set({ status: 'done', startedAt: NOW + 100, finishedAt: NOW + 2_000 });
    clock.advance(2_000);
    const second = await post();
    clock.advance(1_000);
    expect(await post()).toEqual(second);
    expect(consolidations.started.map(({ dueAt }) => dueAt)).toEqual([NOW, NOW + 2_001]);
    const look = async (id: number) => (await ask(`/v1/consolidations/${id}`)).json;
    expect(await look(NOW)).toMatchObject({ status: 'done', version: 1 });
    expect(await look(NOW + 2_001)).toMatchObject({ status: 'pending', version: null });

    set({ status: 'running', startedAt: NOW + 4_500, finishedAt: null, leaseUntil: NOW + MINUTE_MS });
    clock.advance(1_000);
    expect(await post()).toEqual({ id: String(NOW + 4_500) });
    expect(await look(NOW + 4_500)).toMatchObject({ status: 'running' });
  });

  it('runs again at once after a reset, which forgets the job that ran', async () => {
    const { ask, consolidations, clock } = controlWorld();
    const post = () => ask('/v1/consolidations', { method: 'POST' });
    await post();
    expect(await ask('/v1/reset', { method: 'POST' })).toMatchObject({ status: 200 });
    clock.advance(1_000);
    await post();
    await post();
    expect(consolidations.started.map(({ dueAt }) => dueAt)).toEqual([NOW, NOW + 1]);
  });

  it('tells what became of it, from pending to the version made', async () => {
    const world = controlWorld();
    await world.publish({ 'MEMORY.md': 'before\n' }, { now: NOW - MINUTE_MS });
    await world.ask('/v1/consolidations', { method: 'POST' });
    const look = async () => (await world.ask(`/v1/consolidations/${NOW}`)).json;
    expect(await look()).toMatchObject({ status: 'pending', version: null, counts: null });
    const set = (job: object) => world.table.consolidations.set('user-1', sampleJob(job));
    set({ status: 'running', startedAt: NOW, leaseUntil: NOW + MINUTE_MS });
    expect(await look()).toMatchObject({ status: 'running' });
    set({ status: 'error', finishedAt: NOW + 1, lastError: 'model.timeout' });
    expect(await look()).toMatchObject({ status: 'error', last_error: 'model.timeout', version: null });
    set({ status: 'done', finishedAt: NOW + 1 });
    expect(await look()).toMatchObject({ status: 'done', version: null });
    const inputs = [{ threadId: 't-1', sourceUpdatedAt: 1 }];
    const version = await world.publish({ 'MEMORY.md': 'after\n' }, { inputs, now: NOW + 2 });
    await world.publish({ 'MEMORY.md': 'a note\n' }, { inputs, reason: 'note', now: NOW + 3 });
    expect(await look()).toMatchObject({ status: 'done', version, counts: { inputs: 1, removed: 0, files: 1 } });
  });

  it('takes a run that was over before as no answer', async () => {
    const world = controlWorld();
    world.table.consolidations.set('user-1', sampleJob({ status: 'error', finishedAt: NOW - 1, lastError: 'old' }));
    await world.ask('/v1/consolidations', { method: 'POST' });
    expect((await world.ask(`/v1/consolidations/${NOW}`)).json).toMatchObject({ status: 'pending', last_error: null });
  });

  it.each([`${NOW + DAY_MS}`, `${NOW - 2 * DAY_MS}`, `${NOW + MINUTE_MS}`, 'abc', '0', '-1', '1e12'])(
    'answers 404 for %s',
    async (id) => {
      expect(await controlWorld().ask(`/v1/consolidations/${id}`)).toMatchObject({
        status: 404,
        json: { code: 'consolidation.not_found' },
      });
    },
  );

  it('answers 503 where no run could be started', async () => {
    const { ask, consolidations } = controlWorld();
    consolidations.onStart = () => {
      throw new UnavailableError('consolidation.not_started', 'the run could not be started');
    };
    const answer = await ask('/v1/consolidations', { method: 'POST' });
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5']);
  });
});

describe('POST /v1/reset', () => {
  it('leaves nothing published and no output, and keeps threads, modes and settings', async () => {
    const world = controlWorld();
    await world.putThread('t-1', { memoryMode: 'disabled' });
    world.table.setRow('user-1', 't-1', { job: sampleJob({ status: 'done' }), head: sampleHead({ threadId: 't-1' }) });
    await world.publish({ 'MEMORY.md': 'words\n' });
    await world.ask('/v1/settings', { method: 'PATCH', body: { max_unused_days: 7 } });
    expect((await world.ask('/v1/reset', { method: 'POST' })).json).toEqual({ epoch: 1, outputs: 1, bodies: 0 });
    expect((await world.ask('/v1/memory/versions')).json).toEqual([]);
    expect((await world.ask('/v1/threads/t-1')).json).toMatchObject({ memory_mode: 'disabled', output: null });
    expect((await world.ask('/v1/settings')).json).toMatchObject({ max_unused_days: 7 });
  });
});

describe('POST /v1/erase', () => {
  const erase = (world: ReturnType<typeof controlWorld>, confirm: unknown, user = 'user1') =>
    world.ask('/v1/erase', { method: 'POST', body: { confirm }, caller: world.as(user) });

  it('B12 erases the caller alone, and answers a receipt that proves itself', async () => {
    const world = controlWorld();
    for (const user of ['user1', 'user10', 'user']) world.traces.kept.set(user, { objects: 3, versions: 5, items: 7 });
    const { json } = await erase(world, 'user1');
    const counts = { objects: 3, versions: 5, items: 7, messages: 0 };
    const told = { erased_at: '2025-10-09T08:53:20+00:00', counts };
    expect(json).toEqual({ ...told, sha256: sha256Hex(JSON.stringify({ user_id: 'user1', ...told })) });
    expect([...world.traces.kept.keys()]).toEqual(['user10', 'user']);
  });

  it.each(['', 'user10', 'USER1', ' user1', 'user1\n', 'user'])(
    'B12 touches nothing when %j is confirmed',
    async (confirm) => {
      const world = controlWorld();
      world.traces.kept.set('user1', { objects: 1, versions: 1, items: 1 });
      await world.publish({ 'MEMORY.md': 'words\n' }, { user: 'user1' });
      expect(await erase(world, confirm)).toMatchObject({ status: 400, json: { code: 'erase.not_confirmed' } });
      expect([world.traces.kept.size, (await world.heads.read('user1')).version]).toEqual([1, 1]);
    },
  );

  it.each([undefined, null, true, 7])('B12 answers 400 to a confirmation that is %j', async (confirm) => {
    const world = controlWorld();
    world.traces.kept.set('user1', { objects: 1, versions: 1, items: 1 });
    expect((await erase(world, confirm)).status).toBe(400);
    expect(world.traces.kept.size).toBe(1);
  });

  it('answers 503 while a run is under way, with the time of its end, and a receipt after it', async () => {
    const world = controlWorld();
    world.traces.kept.set('user1', { objects: 1, versions: 1, items: 1 });
    await world.jobs.claim('user1', { kind: 'consolidation' }, { token: 'k', now: NOW, leaseMs: 90_000 });
    const answer = await erase(world, 'user1');
    expect(answer).toMatchObject({ status: 503, json: { code: 'erase.runs_in_flight', retry_after_ms: 90_000 } });
    expect(answer.headers['retry-after']).toBe('90');
    expect(world.traces.kept.size).toBe(0);
    world.clock.advance(90_000);
    expect((await erase(world, 'user1')).status).toBe(200);
  });

  it('says so when something is still written', async () => {
    const world = controlWorld();
    world.traces.kept.set('user1', { objects: 1, versions: 1, items: 1 });
    world.traces.busy.add('user1');
    expect(await erase(world, 'user1')).toMatchObject({ status: 503, json: { code: 'erase.incomplete' } });
  });
});
