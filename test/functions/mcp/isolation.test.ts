import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toUserKey } from '../../../core/ids.ts';
import { sampleHead, sampleJob } from '../../support/sample-state.ts';
import { mcpWorld } from './mcp-world.ts';

const userIds = fc.uniqueArray(
  fc.oneof(
    fc.constantFrom('user1', 'user10', 'a/b', 'a', '..', '.', 'ä', 'a\u0308', '使用者', '~dXNlcjE', 'U'.repeat(200)),
    fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 200 })
      .filter((id) => id.trim() === id && id.isWellFormed() && !/\p{Cc}/u.test(id)),
  ),
  { minLength: 2, maxLength: 3 },
);

function markerOf(at: number): string {
  return `marker${'abcdefgh'[at] ?? 'z'}only`;
}

type World = ReturnType<typeof mcpWorld>;

async function fill(world: World, user: string, marker: string): Promise<void> {
  const summary = `v1\n\n## User Profile\n\n${marker}\n`;
  const files = { 'MEMORY.md': `words ${marker}\n`, 'memory_summary.md': summary };
  await world.publish({ ...files, [`skills/${marker}/SKILL.md`]: marker }, user);
  const head = sampleHead({ threadId: marker, slug: marker });
  world.table.setRow(toUserKey(user), marker, { job: sampleJob({ status: 'done' }), head });
}

/** All that the endpoint answers to one user who names another wherever something can be named. */
async function lookAround(world: World, user: string, victim: string): Promise<string> {
  const id = encodeURIComponent(victim);
  return JSON.stringify([
    await world.call('memory_summary', {}, user),
    await world.call('memory_summary', { user_id: victim }, user),
    await world.call('memory_list', { path: 'skills' }, user),
    await world.call('memory_list', { path: `../${victim}` }, user),
    await world.call('memory_read', { path: 'MEMORY.md' }, user),
    await world.call('memory_read', { path: `users/${victim}/memories/MEMORY.md` }, user),
    await world.call('memory_search', { queries: ['words', 'only'], context_lines: 9 }, user),
    await world.rpc('resources/read', { uri: 'memory://summary' }, user),
    await world.rpc('resources/read', { uri: `memory://summary/${id}` }, user),
    await world.rpc('prompts/get', { name: 'memory' }, user),
  ]);
}

describe('the MCP function behind API Gateway', () => {
  it('B13 B15 never shows, changes or counts for one user what is of another, whatever a tool is given', async () => {
    await fc.assert(
      fc.asyncProperty(userIds, async (users) => {
        const world = mcpWorld();
        const markers = users.map((_, at) => markerOf(at));
        for (const [at, user] of users.entries()) await fill(world, user, markerOf(at));
        for (const [at, user] of users.entries()) {
          const next = (at + 1) % users.length;
          const seen = await lookAround(world, user, users[next] ?? '');
          expect(markers.filter((marker) => seen.includes(marker))).toEqual([markerOf(at)]);
          const cited = await world.call('memory_cite', { rollout_ids: [markerOf(next)] }, user);
          expect(JSON.parse(cited.text)).toMatchObject({ recorded: 0, unknown: [markerOf(next)] });
        }
        const [attacker = '', ...others] = users;
        await world.call('memory_add_note', { note: 'mine' }, attacker);
        expect((await world.heads.read(toUserKey(attacker))).version).toBe(2);
        for (const user of others) expect((await world.heads.read(toUserKey(user))).version).toBe(1);
        for (const user of users)
          for (const head of await world.stageOne.heads(toUserKey(user))) expect(head.usageCount).toBeNull();
        expect(JSON.stringify(world.telemetry.events)).not.toContain('only');
      }),
      { numRuns: 20 },
    );
  });
});
