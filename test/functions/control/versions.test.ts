import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../core/settings.ts';
import { DAY_MS } from '../../../core/time.ts';
import { NOW } from '../../support/sample-state.ts';
import { controlWorld } from './control-world.ts';

describe('/v1/memory/versions', () => {
  it('lists what each version added, kept and changed, newest first', async () => {
    const { ask, publish } = controlWorld();
    const input = (threadId: string) => ({ threadId, sourceUpdatedAt: 1 });
    const one = await publish({ 'MEMORY.md': 'one\n' }, { inputs: [input('a')] });
    const two = await publish(
      { 'MEMORY.md': 'two\n', 'skills/a/SKILL.md': 's\n' },
      { inputs: [input('a'), input('b')] },
    );
    expect((await ask('/v1/memory/versions')).json).toEqual([
      {
        version: two,
        parent: one,
        created_at: '2025-10-09T08:53:20+00:00',
        reason: 'consolidation',
        added: 1,
        retained: 1,
        removed: 0,
        files_changed: 2,
      },
      {
        version: one,
        parent: 0,
        created_at: '2025-10-09T08:53:20+00:00',
        reason: 'consolidation',
        added: 1,
        retained: 0,
        removed: 0,
        files_changed: 1,
      },
    ]);
    expect((await ask(`/v1/memory/versions/${two}`)).json).toMatchObject({
      version: two,
      parent: one,
      inputs: [{ thread_id: 'a' }, { thread_id: 'b' }],
    });
  });

  it('pages through a long history without gaps', async () => {
    const { ask, publish } = controlWorld();
    const made: number[] = [];
    for (let at = 0; at < LIMITS.versionPage + 7; at++) made.unshift(await publish({ 'MEMORY.md': `${at}\n` }));
    const first = await ask('/v1/memory/versions');
    const next = /^<(.+)>; rel="next"$/.exec(first.headers['link'] ?? '')?.[1] ?? '';
    const second = await ask(next);
    const rows = [first.json, second.json].flatMap((json) => json as { version: number; files_changed: number }[]);
    expect(rows.map((row) => row.version)).toEqual(made);
    expect(rows.every((row) => row.files_changed === 1)).toBe(true);
    expect(second.headers['link']).toBeUndefined();
  });

  it('is empty where nothing was published', async () => {
    expect((await controlWorld().ask('/v1/memory/versions')).json).toEqual([]);
  });

  it.each(['0', '99', '-1', '1.5', 'head', '00001', '99999999999'])('answers 404 for version %s', async (number) => {
    const { ask, publish } = controlWorld();
    await publish({ 'MEMORY.md': 'one\n' });
    expect((await ask(`/v1/memory/versions/${number}`)).status).toBe(404);
  });

  it('takes the size of a page and carries it on, and refuses cursors that it did not give', async () => {
    const { ask, publish } = controlWorld();
    for (let at = 0; at < 5; at++) await publish({ 'MEMORY.md': `${at}\n` });
    const first = await ask('/v1/memory/versions?max_results=2');
    expect(first.headers['link']).toBe('</v1/memory/versions?cursor=4&max_results=2>; rel="next"');
    const numbers = async (query: string) =>
      ((await ask(`/v1/memory/versions?${query}`)).json as { version: number }[]).map(({ version }) => version);
    expect(await numbers('cursor=4&max_results=2')).toEqual([3, 2]);
    expect(await numbers('cursor=2&max_results=0')).toEqual([1]);
    expect(await numbers('cursor=1')).toEqual([]);
    expect(await numbers('max_results=9999')).toHaveLength(5);
    for (const cursor of ['x', '-1', '0', '1.5', ''])
      expect(await ask(`/v1/memory/versions?cursor=${cursor}`)).toMatchObject({
        status: 400,
        json: { code: 'cursor.invalid' },
      });
    expect(await ask('/v1/memory/versions?before=3')).toMatchObject({ status: 400 });
  });

  it('C26 lists and shows what can still be read: not what was superseded 90 days ago', async () => {
    const { ask, publish, clock } = controlWorld();
    await publish({ 'MEMORY.md': 'one\n' });
    await publish({ 'MEMORY.md': 'two\n' }, { now: NOW + DAY_MS });
    await publish({ 'MEMORY.md': 'three\n' }, { now: NOW + 2 * DAY_MS });
    const numbers = async () =>
      ((await ask('/v1/memory/versions')).json as { version: number }[]).map((row) => row.version);
    clock.advance((LIMITS.historyDays + 1) * DAY_MS);
    expect(await numbers()).toEqual([3, 2, 1]);
    clock.advance(1);
    expect(await numbers()).toEqual([3, 2]);
    expect((await ask('/v1/memory/versions')).json).toMatchObject([{}, { files_changed: 1 }]);
    const gone = { status: 410, json: { code: 'memory.version_expired', version: 1 } };
    for (const path of ['/v1/memory/versions/1', '/v1/memory/versions/1/diff', '/v1/memory/versions/3/diff?against=1'])
      expect(await ask(path)).toMatchObject(gone);
    expect(await ask('/v1/memory/versions/1/restore', { method: 'POST' })).toMatchObject(gone);
    clock.advance(1_000 * DAY_MS);
    expect(await numbers()).toEqual([3]);
    expect((await ask('/v1/memory/versions/3')).status).toBe(200);
  });
});

describe('GET /v1/memory/versions/{n}/diff', () => {
  it('shows what a version changed, and the difference of any two', async () => {
    const { ask, publish } = controlWorld();
    await publish({ 'MEMORY.md': 'one\ntwo\n' });
    await publish({ 'MEMORY.md': 'one\n2\n', 'skills/a/SKILL.md': 's\n' });
    await publish({ 'MEMORY.md': 'one\n2\n' });
    const diff = async (path: string) => {
      const answer = await ask(`/v1/memory/versions/${path}`);
      expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
      return answer.text;
    };
    const memory =
      'diff --git a/MEMORY.md b/MEMORY.md\n--- a/MEMORY.md\n+++ b/MEMORY.md\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n';
    const skill = 'diff --git a/skills/a/SKILL.md b/skills/a/SKILL.md\n';
    const added = `${skill}new file mode 100644\n--- /dev/null\n+++ b/skills/a/SKILL.md\n@@ -0,0 +1,1 @@\n+s\n`;
    expect(await diff('2/diff')).toBe(memory + added);
    expect(await diff('3/diff?against=1')).toBe(memory);
    expect(await diff('3/diff')).toBe(
      `${skill}deleted file mode 100644\n--- a/skills/a/SKILL.md\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-s\n`,
    );
    expect(await diff('1/diff')).toContain('+++ b/MEMORY.md\n@@ -0,0 +1,2 @@\n');
    expect(await diff('1/diff?against=2')).toContain('-2\n+two\n');
    expect(await diff('2/diff?against=2')).toBe('');
    expect(await diff('2/diff?against=0')).toContain('new file mode');
  });

  it.each([
    ['9/diff', 404],
    ['1/diff?against=9', 404],
    ['0/diff', 404],
    ['x/diff', 404],
    ['1/diff?against=x', 400],
    ['1/diff?against=-1', 400],
    ['1/diff?other=1', 400],
  ])('answers %s with %i', async (path, status) => {
    const { ask, publish } = controlWorld();
    await publish({ 'MEMORY.md': 'one\n' });
    expect((await ask(`/v1/memory/versions/${path}`)).status).toBe(status);
  });
});

describe('POST /v1/memory/versions/{n}/restore', () => {
  const restore = (world: ReturnType<typeof controlWorld>, number: string | number) =>
    world.ask(`/v1/memory/versions/${number}/restore`, { method: 'POST' });

  it('answers 201 with a new version of the same files, and 200 where that is what is read already', async () => {
    const world = controlWorld();
    await world.publish({ 'MEMORY.md': 'one\n', 'memory_summary.md': 'v1\none\n' });
    await world.publish({ 'MEMORY.md': 'two\n', 'memory_summary.md': 'v1\ntwo\n' });
    const answer = await restore(world, 1);
    expect(answer).toMatchObject({ status: 201, json: { version: 3, restored: 1, changed: true } });
    expect(answer.headers['location']).toBe('/v1/memory/versions/3');
    expect((await world.heads.read('user-1')).summary).toBe('v1\none\n');
    expect((await world.ask('/v1/memory/versions/3')).json).toMatchObject({
      reason: 'restore',
      actor: 'user',
      parent: 2,
    });
    expect(await restore(world, 1)).toMatchObject({ status: 200, json: { version: 3, restored: 1, changed: false } });
    expect(await restore(world, 3)).toMatchObject({ status: 200, json: { version: 3, restored: 3, changed: false } });
    expect(await restore(world, 2)).toMatchObject({ status: 201, json: { version: 4 } });
  });

  it.each(['0', '9', 'x', '-1'])('answers 404 to version %s', async (number) => {
    const world = controlWorld();
    await world.publish({ 'MEMORY.md': 'one\n' });
    expect(await restore(world, number)).toMatchObject({ status: 404, json: { code: 'memory.version_not_found' } });
    expect((await world.heads.read('user-1')).version).toBe(1);
  });
});
