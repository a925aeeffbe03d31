import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toUserKey } from '../../../core/ids.ts';
import { sampleHead, sampleJob, sampleThread } from '../../support/sample-state.ts';
import { type Answer, type Ask, readWorld } from './read-world.ts';

/** Ids that are prefixes of each other, differ in case, need encoding, or look like storage keys. Header-safe. */
const userIds = fc.uniqueArray(
  fc.oneof(
    fc.constantFrom('user1', 'user10', 'USER1', 'user1/', 'user1#', '..', '~dXNlcjE', 'a:b', 'auth0|5f', 'x%2Fy', '*'),
    fc.stringMatching(/^[!-~]{1,40}$/).filter((id) => id !== 'nobody'),
  ),
  { minLength: 2, maxLength: 4 },
);

function markerOf(at: number): string {
  return `marker${'abcdefgh'[at] ?? 'z'}only`;
}

/** A memory in which everything carries the user's marker: names, contents, thread, output. */
async function fill(made: ReturnType<typeof readWorld>, user: string, marker: string): Promise<void> {
  const project = `/work/${marker}`;
  const userKey = toUserKey(user);
  await made.publish(
    {
      'MEMORY.md': `# Task Group: ${marker}\nshared words ${marker}\n`,
      'memory_summary.md': `v1\n\n## User Profile\n\n${marker}\n\n## User preferences\n\n- ${marker}\n\n## General Tips\n\n## What's in Memory\n\n### ${project}\n\n#### 2025-10-01\n\n- ${marker}: words\n  - desc: ${marker}\n  - learnings: ${marker}\n`,
      [`skills/${marker}/SKILL.md`]: `${marker}\n`,
      [`extensions/ad_hoc/notes/2025-10-09T08-00-00-${marker}.md`]: marker,
    },
    { user },
  );
  const threadId = `thread-${marker}`;
  await made.threads.update(userKey, threadId, () => sampleThread({ threadId, project, title: marker }));
  made.stageOne.table.setRow(userKey, threadId, {
    job: sampleJob({
      status: 'error',
      lastError: marker,
      outcome: { kind: 'failed', reason: 'too_large', detail: marker },
    }),
    head: sampleHead({ threadId, slug: marker }),
  });
  made.stageOne.table.consolidations.set(userKey, sampleJob({ status: 'error', lastError: marker }));
}

/** Every route, in good and in bad requests that name another user wherever a request can name something. */
function requestsNaming(other: string, marker: string): readonly (readonly [string, Ask])[] {
  const id = encodeURIComponent(other);
  const headers = { 'x-stillroom-user': other, 'x-user-id': other, cookie: `user=${id}` };
  const post = (body: unknown): Ask => ({ method: 'POST', body, headers });
  return [
    ['/v1/status', { headers }],
    [`/v1/status?user=${id}`, { headers }],
    ['/v1/memory', { headers }],
    ['/v1/memory?scope=all', { headers: { ...headers, 'if-none-match': '"x"' } }],
    [`/v1/memory?cwd=/work/${marker}`, { headers }],
    [`/v1/memory?user_id=${id}`, { headers }],
    ['/v1/memory?version=1', { headers }],
    ['/v1/memory/files', { headers }],
    [`/v1/memory/files?path=users/${id}/memories`, { headers }],
    ['/v1/memory/files?path=skills', { headers }],
    ['/v1/memory/files/MEMORY.md', { headers }],
    ['/v1/memory/files/MEMORY.md?version=1', { headers: { ...headers, accept: 'text/markdown' } }],
    [`/v1/memory/files/..%2F..%2F${id}%2Fmemories%2FMEMORY.md`, { headers }],
    [`/v1/memory/files/users/${id}/memories/MEMORY.md`, { headers }],
    ['/v1/memory/search', post({ queries: ['words', 'only'], context_lines: 5 })],
    ['/v1/memory/search', post({ queries: ['words'], user_id: other })],
    ['/v1/memory/search', post({ queries: ['words'], path: `../${other}` })],
    [`/v1/memory/search?user=${id}`, post({ queries: ['words'] })],
    ['/v1/memory/notes', post({ note: 'a note' })],
    ['/v1/memory/notes', post({ filename: `2025-10-09T08-00-00-${marker}.md`, note: 'mine' })],
    ['/v1/memory/notes', post({ filename: `../${other}/2025-10-09T08-00-00-a.md`, note: 'mine' })],
    ['/v1/memory/notes', post({ note: 'mine', user_id: other })],
    ['/v1/citations?idempotency_key=k', post({ citation: { rollout_ids: [`thread-${marker}`] } })],
    ['/v1/citations', post({ citation: { rollout_ids: [`thread-${marker}`] } })],
    ['/v1/citations', post({ citation: { rollout_ids: [] }, user: other })],
    [`/v1/users/${id}/memory`, { headers }],
  ];
}

function wholeOf(answer: Answer): string {
  return [...answer.headers].flat().concat(answer.text).join('\n');
}

/** What the caller itself sent may come back: a project, a note's name, an unknown thread id. */
function withoutEcho(text: string, marker: string): string {
  return text
    .replaceAll(`"project":"/work/${marker}"`, '')
    .replaceAll(new RegExp(`(/v1/memory/files/)?extensions/ad_hoc/notes/2025-10-09T08-00-00-${marker}.md`, 'g'), '')
    .replaceAll(`"thread-${marker}"`, '');
}

describe('the read app', () => {
  it('never shows one user what is of another, on any route, in any error, in any log line', async () => {
    await fc.assert(
      fc.asyncProperty(userIds, async (users) => {
        const made = readWorld();
        for (const [at, user] of users.entries()) await fill(made, user, markerOf(at));
        for (const [at, user] of users.entries()) {
          const next = (at + 1) % users.length;
          for (const [path, ask] of requestsNaming(users[next] ?? '', markerOf(next))) {
            const headers = { ...ask.headers, authorization: `Bearer ${user}` };
            const answer = await made.ask(path, { ...ask, headers });
            const seen = withoutEcho(wholeOf(answer), markerOf(next));
            const foreign = users.map((_, other) => markerOf(other)).filter((marker) => marker !== markerOf(at));
            expect(foreign.filter((marker) => seen.includes(marker))).toEqual([]);
          }
          for (const head of await made.stageOne.heads(toUserKey(user))) expect(head.usageCount).toBeNull();
          const own = await made.ask('/v1/memory', { headers: { authorization: `Bearer ${user}` } });
          expect(own.text).toContain(markerOf(at));
        }
        expect(JSON.stringify([made.telemetry.events, made.telemetry.counts])).not.toContain('only');
      }),
      { numRuns: 25 },
    );
  });

  it('serves nothing but health to who is not known', async () => {
    const made = readWorld();
    for (const [path, ask] of requestsNaming('user-1', 'm')) {
      if (path.startsWith('/v1/users')) continue;
      const headers = { ...ask.headers, authorization: 'Bearer nobody' };
      expect([path, (await made.ask(path, { ...ask, headers })).status]).toEqual([path, 401]);
    }
    expect((await made.ask('/healthz', { headers: { authorization: 'Bearer nobody' } })).status).toBe(200);
  });
});
