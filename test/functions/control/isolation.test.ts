import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toUserKey } from '../../../core/ids.ts';
import type { ClientAsk } from '../../support/gateway-client.ts';
import { sampleHead, sampleJob, sampleThread } from '../../support/sample-state.ts';
import { controlWorld } from './control-world.ts';

type World = ReturnType<typeof controlWorld>;

/** Ids that are prefixes of each other, steps in a path, other spellings of one text, storage keys of others, or long. */
const userIds = fc.uniqueArray(
  fc.oneof(
    fc.constantFrom(
      'user1',
      'user10',
      'user',
      'a/b',
      'a',
      '..',
      '.',
      'ä',
      'a\u0308',
      '使用者',
      '👩‍🔬',
      '~dXNlcjE',
      '*',
    ),
    fc.constantFrom('U'.repeat(200), `${'U'.repeat(199)}V`, 'user1#', 'user#user10', 'rollouts/user1/t', '%2e%2e'),
    fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 200 })
      .filter((id) => id.trim() === id && id.isWellFormed() && !/\p{Cc}/u.test(id)),
  ),
  { minLength: 2, maxLength: 4 },
);

function markerOf(at: number): string {
  return `marker${'abcdefgh'[at] ?? 'z'}only`;
}

/** Everything a user can have, carrying the marker wherever a text can stand. Thread ids are the same for all. */
async function fill(world: World, user: string, marker: string): Promise<void> {
  const userKey = toUserKey(user);
  const input = { threadId: marker, sourceUpdatedAt: 1 };
  await world.publish({ 'MEMORY.md': `${marker}\n`, [`skills/${marker}/SKILL.md`]: marker }, { user, inputs: [input] });
  for (const threadId of ['shared', marker]) {
    const about = { cwd: `/${marker}`, repository: marker, project: marker, gitBranch: marker, title: marker };
    await world.threads.update(userKey, threadId, () => sampleThread({ threadId, ...about }));
    const outcome = { kind: 'failed', reason: 'too_large', detail: marker } as const;
    const head = sampleHead({ threadId, slug: marker, model: marker });
    const job = sampleJob({ status: 'error', lastError: marker, outcome });
    world.table.setRow(userKey, threadId, { job, head });
    await world.outputs.putBody(userKey, head, { rawMemory: marker, rolloutSummary: marker });
    await world.rollouts.put(userKey, threadId, one(marker), marker, 1);
  }
  world.table.consolidations.set(
    userKey,
    sampleJob({ status: 'error', lastError: marker, finishedAt: Number.MAX_SAFE_INTEGER }),
  );
  await world.settings.write(userKey, { ...(await world.settings.read(userKey)), extractModel: marker });
  world.traces.kept.set(userKey, { objects: 1, versions: 1, items: 1 });
}

async function* one(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** Every route that looks, good and bad, naming another user wherever a request can name something. */
function looks(world: World, victim: string, theirs: string): readonly (readonly [string, ClientAsk])[] {
  const id = encodeURIComponent(victim);
  const now = world.clock.now();
  return [
    ['/v1/threads', {}],
    ['/v1/threads?outcome=failed', {}],
    [`/v1/threads?cursor=${theirs}`, {}],
    [`/v1/threads?user=${id}`, {}],
    ['/v1/threads/shared', {}],
    [`/v1/threads/${theirs}`, {}],
    [`/v1/threads/${encodeURIComponent(`../${victim}/shared`)}`, {}],
    ['/v1/settings', {}],
    [`/v1/settings?user_id=${id}`, {}],
    [`/v1/consolidations/${now - (now % 10_000)}`, {}],
    ['/v1/memory/versions', {}],
    ['/v1/memory/versions/1', {}],
    ['/v1/memory/versions/2', {}],
    ['/v1/memory/versions/1/replay', {}],
    [`/v1/users/${id}/threads`, {}],
  ];
}

/** Every route that acts, each on what is the caller's own or on nothing. */
function acts(victim: string, theirs: string): readonly (readonly [string, ClientAsk])[] {
  const post = (body?: unknown): ClientAsk => ({ method: 'POST', ...(body === undefined ? {} : { body }) });
  return [
    ['/v1/rollouts', post({ thread_id: theirs, user_id: victim })],
    ['/v1/rollouts', post({ thread_id: `../${victim}` })],
    ['/v1/rollouts', post({ thread_id: theirs })],
    [`/v1/rollouts/${theirs}`, { method: 'PUT', raw: 'mine' }],
    [`/v1/threads/${theirs}`, { method: 'PATCH', body: { memory_mode: 'disabled' } }],
    [`/v1/threads/${theirs}/extract`, post()],
    ['/v1/threads/shared', { method: 'DELETE' }],
    [`/v1/threads/${theirs}`, { method: 'DELETE' }],
    ['/v1/settings', { method: 'PATCH', body: { user: victim } }],
    ['/v1/settings', { method: 'PATCH', body: { use_memories: false } }],
    ['/v1/consolidations', post({ user: victim })],
    ['/v1/redrive', post({ user: victim })],
    ['/v1/erase', post({ confirm: victim })],
    ['/v1/reset', post({ user: victim })],
  ];
}

/** All that the stores hold of a user. */
async function stateOf(world: World, user: string): Promise<string> {
  const userKey = toUserKey(user);
  const heads = await world.outputs.heads(userKey);
  return JSON.stringify([
    await world.threads.list(userKey, { limit: 100 }),
    [...(await world.jobs.listExtractions(userKey))],
    heads,
    [...(await world.outputs.bodies(userKey, heads))],
    await world.jobs.get(userKey, { kind: 'consolidation' }),
    await world.heads.read(userKey),
    await world.memories.manifestNumbers(userKey),
    await world.settings.read(userKey),
    await world.traces.count(userKey),
    [await world.rollouts.look(userKey, 'shared')],
  ]);
}

describe('the control function behind API Gateway', () => {
  it('B13 B15 never shows one user what is of another, on any route, in any error, in any log line', async () => {
    await fc.assert(
      fc.asyncProperty(userIds, async (users) => {
        const world = controlWorld();
        for (const [at, user] of users.entries()) await fill(world, user, markerOf(at));
        for (const [at, user] of users.entries()) {
          const next = (at + 1) % users.length;
          const headers = { 'x-stillroom-user': users[next] ?? '', authorization: `Bearer ${users[next]}` };
          for (const [path, ask] of looks(world, users[next] ?? '', markerOf(next))) {
            const answer = await world.ask(path, { ...ask, headers, caller: world.as(user) });
            const seen = JSON.stringify([answer.headers, answer.text]);
            const foreign = users.map((_, other) => markerOf(other)).filter((marker) => marker !== markerOf(at));
            expect([path, foreign.filter((marker) => seen.includes(marker))]).toEqual([path, []]);
          }
          expect((await world.ask('/v1/threads/shared', { caller: world.as(user) })).text).toContain(markerOf(at));
        }
        expect(JSON.stringify([world.telemetry.events, world.telemetry.counts])).not.toContain('only');
      }),
      { numRuns: 25 },
    );
  });

  it('B12 B15 never changes anything of another user, whoever a request names', async () => {
    await fc.assert(
      fc.asyncProperty(userIds, async (users) => {
        const world = controlWorld();
        for (const [at, user] of users.entries()) await fill(world, user, markerOf(at));
        const [attacker = '', ...others] = users;
        const before = await Promise.all(others.map((user) => stateOf(world, user)));
        for (const [at, victim] of others.entries()) {
          const headers = { 'x-stillroom-user': victim };
          for (const [path, ask] of acts(victim, markerOf(at + 1)))
            await world.ask(path, { ...ask, headers: { ...headers, ...ask.headers }, caller: world.as(attacker) });
        }
        await world.ask('/v1/erase', { method: 'POST', body: { confirm: attacker }, caller: world.as(attacker) });
        expect(await Promise.all(others.map((user) => stateOf(world, user)))).toEqual(before);
        const own = toUserKey(attacker);
        expect(new Set(world.uploads.signed.map(({ userKey }) => userKey))).toEqual(new Set([own]));
        expect(new Set(world.queue.waiting.map(({ userKey }) => userKey))).toEqual(new Set([own]));
        expect(new Set(world.consolidations.started.map(({ userKey }) => userKey))).toEqual(new Set([own]));
      }),
      { numRuns: 25 },
    );
  });

  it('serves nothing to who was not authorised, before it reads a body', async () => {
    const world = controlWorld();
    await fill(world, 'user-1', 'm');
    const before = await stateOf(world, 'user-1');
    const headers = { 'x-stillroom-user': 'user-1', authorization: 'Bearer user-1' };
    for (const [path, ask] of [...looks(world, 'user-1', 'm'), ...acts('user-1', 'm')]) {
      if (path.startsWith('/v1/users')) continue;
      for (const caller of [{ kind: 'nobody' }, { kind: 'iam' }, world.as('')] as const) {
        const answer = await world.ask(path, { ...ask, headers: { ...headers, ...ask.headers }, caller });
        expect([path, answer.status]).toEqual([path, path.includes('%2F') ? expect.any(Number) : 401]);
      }
    }
    expect(await stateOf(world, 'user-1')).toBe(before);
  });
});
