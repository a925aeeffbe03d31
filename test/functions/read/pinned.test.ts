import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../core/settings.ts';
import { DAY_MS } from '../../../core/time.ts';
import { NOW, sampleThread } from '../../support/sample-state.ts';
import { readWorld } from './read-world.ts';

const OLD = { 'MEMORY.md': 'the old word\n', 'memory_summary.md': 'v1\n\n## User Profile\n\nold profile\n' };
const NEW = {
  'MEMORY.md': 'the new word\n',
  'memory_summary.md': 'v1\n\n## User Profile\n\nnew profile\n',
  'skills/a/SKILL.md': 's\n',
};
const T1 = [{ threadId: 't-1', sourceUpdatedAt: 1 }];

/** A memory of two versions, and every way of reading one of them. */
async function pinWorld() {
  const world = readWorld();
  await world.publish(OLD, { inputs: T1 });
  await world.publish(NEW);
  const query = (version: number | null) => (version === null ? '' : `?version=${version}`);
  const reads = {
    summary: (version: number | null) => world.ask(`/v1/memory${query(version)}`),
    list: (version: number | null) => world.ask(`/v1/memory/files${query(version)}`),
    file: (version: number | null) => world.ask(`/v1/memory/files/MEMORY.md${query(version)}`),
    markdown: (version: number | null) =>
      world.ask(`/v1/memory/files/MEMORY.md${query(version)}`, { headers: { accept: 'text/markdown' } }),
    search: (version: number | null) => world.post(`/v1/memory/search${query(version)}`, { queries: ['word'] }),
  };
  return { ...world, reads };
}

const WAYS = ['summary', 'list', 'file', 'markdown', 'search'] as const;

describe('a version that a session holds on to (A38)', () => {
  it('is what summary, list, file and search answer from, while the others see the present one', async () => {
    const { reads } = await pinWorld();
    expect((await reads.summary(1)).json).toMatchObject({
      version: 1,
      summary: expect.stringContaining('old profile'),
    });
    expect((await reads.summary(null)).json).toMatchObject({ version: 2, summary: expect.stringContaining('new') });
    expect((await reads.list(1)).json).toMatchObject({
      version: 1,
      entries: [{ path: 'MEMORY.md' }, { path: 'memory_summary.md' }],
    });
    expect((await reads.list(null)).json).toMatchObject({ version: 2, entries: [{}, {}, { path: 'skills' }] });
    expect((await reads.file(1)).json).toMatchObject({ version: 1, content: OLD['MEMORY.md'] });
    expect((await reads.search(1)).json).toMatchObject({ version: 1, matches: [{ content: 'the old word' }] });
    expect((await reads.search(2)).json).toMatchObject({ version: 2, matches: [{ content: 'the new word' }] });
  });

  it('tells the version of a whole file as the tag that an edit of it names', async () => {
    const { reads } = await pinWorld();
    const [old, now] = [await reads.markdown(1), await reads.markdown(null)];
    expect([old.text, old.headers.get('etag')]).toEqual([OLD['MEMORY.md'], '"1"']);
    expect([now.text, now.headers.get('etag')]).toEqual([NEW['MEMORY.md'], '"2"']);
  });

  it.each(WAYS)('is the empty memory where it is 0, and 404 where it never was: %s', async (way) => {
    const { reads } = await pinWorld();
    expect((await reads[way](0)).status).toBe(way === 'file' || way === 'markdown' ? 404 : 200);
    expect(await reads[way](3)).toMatchObject({ status: 404, json: { code: 'memory.version_not_found', version: 3 } });
  });

  it.each(WAYS)('C26 is 410 from the day on that history ends, and not before: %s', async (way) => {
    const { reads, clock } = await pinWorld();
    clock.advance(LIMITS.historyDays * DAY_MS);
    expect((await reads[way](1)).status).toBe(200);
    clock.advance(1);
    expect(await reads[way](1)).toMatchObject({ status: 410, json: { code: 'memory.version_expired', version: 1 } });
    clock.advance(1_000 * DAY_MS);
    expect((await reads[way](2)).status).toBe(200);
    expect((await reads[way](null)).status).toBe(200);
  });

  it.each(WAYS)('A23 does not give out a thread that was forgotten since: %s', async (way) => {
    const { reads, threads } = await pinWorld();
    await threads.update('user-1', 't-1', () => sampleThread({ threadId: 't-1', forgottenAt: NOW }));
    const answer = await reads[way](1);
    expect(answer.text).not.toMatch(/old (word|profile)/);
    expect((await reads[way](2)).status).toBe(200);
  });
});
