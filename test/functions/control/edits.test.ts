import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../core/settings.ts';
import { controlWorld } from './control-world.ts';

const FILE = '/v1/memory/files/MEMORY.md';

function editor() {
  const world = controlWorld();
  const put = (path: string, raw: string | Uint8Array, ifMatch: string | null = '"1"', more: object = {}) =>
    world.ask(path, {
      method: 'PUT',
      raw,
      headers: { 'content-type': 'text/markdown', ...(ifMatch === null ? {} : { 'if-match': ifMatch }), ...more },
    });
  const remove = (path: string, ifMatch: string | null = '"1"') =>
    world.ask(path, { method: 'DELETE', headers: ifMatch === null ? {} : { 'if-match': ifMatch } });
  const version = async () => (await world.heads.read('user-1')).version;
  return { ...world, put, remove, version };
}

describe('PUT /v1/memory/files/{path}', () => {
  it('A31 answers the version that it made, with its tag for the next edit', async () => {
    const { publish, put, ask } = editor();
    await publish({ 'MEMORY.md': 'one\n' });
    const answer = await put(FILE, 'two\n');
    expect(answer).toMatchObject({ status: 200, json: { path: 'MEMORY.md', version: 2, changed: true } });
    expect(answer.headers['etag']).toBe('"2"');
    expect(await put('/v1/memory/files/skills%2Fa/SKILL.md', 'new\n', answer.headers['etag'])).toMatchObject({
      status: 201,
      json: { path: 'skills/a/SKILL.md', version: 3 },
    });
    const rows = (await ask('/v1/memory/versions')).json as { reason: string; files_changed: number }[];
    expect(rows.map((row) => [row.reason, row.files_changed])).toEqual([
      ['edit', 1],
      ['edit', 1],
      ['consolidation', 1],
    ]);
  });

  it('answers 428 without a version, 412 over another one, and writes nothing', async () => {
    const { publish, put, remove, version } = editor();
    await publish({ 'MEMORY.md': 'one\n' });
    await publish({ 'MEMORY.md': 'two\n' });
    const wanted = { status: 428, json: { code: 'http.precondition_required', field: 'if-match' } };
    expect(await put(FILE, 'mine\n', null)).toMatchObject(wanted);
    expect(await remove(FILE, null)).toMatchObject(wanted);
    const late = { status: 412, json: { code: 'edit.stale', version: 2 } };
    expect(await put(FILE, 'mine\n')).toMatchObject(late);
    expect(await remove(FILE)).toMatchObject(late);
    expect(await put(FILE, 'mine\n', '"3"')).toMatchObject(late);
    expect(await version()).toBe(2);
  });

  it.each(['1', '*', 'W/"1"', '"1", "2"', '"v1"', '"-1"', '""', '"01"', '"99999999999"'])(
    'answers 400 to If-Match %s',
    async (header) => {
      const { publish, put } = editor();
      await publish({ 'MEMORY.md': 'one\n' });
      expect(await put(FILE, 'mine\n', header)).toMatchObject({ status: 400, json: { code: 'http.invalid_field' } });
    },
  );

  it.each([
    ['raw_memories.md', 400, 'edit.forbidden_path'],
    ['rollout_summaries/x.md', 400, 'edit.forbidden_path'],
    ['skills/%2e%2e/MEMORY.md', 400, 'path.invalid'],
    ['skills/a%00b', 400, 'path.invalid'],
  ])('answers %s with %i %s', async (path, status, code) => {
    const { publish, put, version } = editor();
    await publish({ 'MEMORY.md': 'one\n' });
    expect(await put(`/v1/memory/files/${path}`, 'x')).toMatchObject({ status, json: { code } });
    expect(await version()).toBe(1);
  });

  it('answers 413 above the size of each file, 415 to a packed body, 400 to bytes that are no text', async () => {
    const { publish, put } = editor();
    await publish({ 'MEMORY.md': 'one\n' });
    const large = new Uint8Array(LIMITS.summaryFileBytes + 1).fill(65);
    expect(await put('/v1/memory/files/memory_summary.md', large)).toMatchObject({
      status: 413,
      json: { limit: LIMITS.summaryFileBytes },
    });
    expect(await put(FILE, large)).toMatchObject({ status: 200 });
    expect(await put(FILE, 'x', '"2"', { 'content-encoding': 'gzip' })).toMatchObject({ status: 415 });
    expect(await put(FILE, new Uint8Array([0xff]), '"2"')).toMatchObject({
      status: 400,
      json: { code: 'edit.not_text' },
    });
    expect(await put(`${FILE}?x=1`, 'x', '"2"')).toMatchObject({ status: 400, json: { code: 'http.unknown_field' } });
  });

  it('keeps users apart', async () => {
    const { publish, put, heads } = editor();
    await publish({ 'MEMORY.md': 'one\n' });
    await publish({ 'MEMORY.md': 'theirs\n' }, { user: 'user-2' });
    await put(FILE, 'mine\n');
    expect((await heads.read('user-2')).version).toBe(1);
  });
});

describe('DELETE /v1/memory/files/{path}', () => {
  it('makes a version without the file; what is not there answers 404', async () => {
    const { publish, remove, ask } = editor();
    await publish({ 'MEMORY.md': 'one\n', 'skills/a/SKILL.md': 's\n' });
    expect(await remove('/v1/memory/files/skills/a/SKILL.md')).toMatchObject({ status: 200, json: { version: 2 } });
    expect(await remove('/v1/memory/files/skills/a/SKILL.md', '"2"')).toMatchObject({
      status: 404,
      json: { code: 'path.not_found' },
    });
    expect((await ask('/v1/memory/versions/2')).json).toMatchObject({ reason: 'edit', files: { 'MEMORY.md': {} } });
  });
});
