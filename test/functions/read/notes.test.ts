import { describe, expect, it } from 'vitest';
import { readWorld } from './read-world.ts';

const NOTES = '/v1/memory/notes';
const NAME = '2025-10-09T08-00-00-use-tabs.md';
const PATH = `extensions/ad_hoc/notes/${NAME}`;

describe('POST /v1/memory/notes', () => {
  it('adds a note that the very next read shows: as pending, in the instructions, and as a file', async () => {
    const { ask, post } = readWorld();
    const answer = await post(NOTES, { filename: NAME, note: 'use tabs, always' });
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({ path: PATH, pending: true });
    expect(answer.headers.get('location')).toBe(`/v1/memory/files/${PATH}`);
    const memory = await ask('/v1/memory');
    expect(memory.json).toMatchObject({
      version: 1,
      pending_notes: [{ path: PATH, text: 'use tabs, always' }],
      instructions: expect.stringContaining('use tabs, always'),
    });
    expect((await ask(`/v1/memory/files/${PATH}`)).json).toMatchObject({ content: 'use tabs, always' });
    expect((await post('/v1/memory/search', { queries: ['tabs'] })).json).toMatchObject({ matches: [{ path: PATH }] });
  });

  it('makes a name from time and text where none is given, another one each time', async () => {
    const { post } = readWorld();
    const first = await post(NOTES, { note: 'Use tabs' });
    const second = await post(NOTES, { note: 'Use tabs', filename: null });
    expect(first.json).toMatchObject({ path: 'extensions/ad_hoc/notes/2025-10-09T08-53-20-use-tabs.md' });
    expect([second.status, second.json]).not.toEqual([201, first.json]);
    expect(second.status).toBe(201);
  });

  it('takes thirty at once, each as one version', async () => {
    const { ask, post } = readWorld();
    const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => post(NOTES, { note: `note ${at}` })));
    expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 30 }, () => 201));
    expect((await ask('/v1/memory')).json).toMatchObject({ version: 30 });
  });

  it('never overwrites a note', async () => {
    const { ask, post } = readWorld();
    await post(NOTES, { filename: NAME, note: 'first' });
    const answer = await post(NOTES, { filename: NAME, note: 'second' });
    expect([answer.status, answer.json]).toMatchObject([409, { code: 'note.exists', field: 'filename' }]);
    expect((await ask(`/v1/memory/files/${PATH}`)).json).toMatchObject({ content: 'first', version: 1 });
  });

  it('keeps what was published beside it', async () => {
    const { ask, post, publish } = readWorld();
    await publish({ 'MEMORY.md': 'kept\n', 'memory_summary.md': 'v1\n' });
    await post(NOTES, { filename: NAME, note: 'n' });
    expect((await ask('/v1/memory/files/MEMORY.md')).json).toMatchObject({ content: 'kept\n', version: 2 });
  });

  it('never stores a secret', async () => {
    const { ask, post } = readWorld();
    const secret = ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_');
    await post(NOTES, { filename: NAME, note: `token is ${secret}` });
    expect((await ask(`/v1/memory/files/${PATH}`)).text).not.toContain(secret);
    expect((await ask('/v1/memory')).text).not.toContain(secret);
  });

  it.each<[unknown, string, string]>([
    [{}, 'http.invalid_field', 'note'],
    [{ note: 5 }, 'http.invalid_field', 'note'],
    [{ note: ' \n\u200b' }, 'note.empty', 'note'],
    [{ note: 'x'.repeat(65_537) }, 'note.too_large', 'note'],
    [{ note: 'x', filename: 'notes.md' }, 'note.name_pattern', 'filename'],
    [{ note: 'x', filename: '../2025-10-09T08-00-00-a.md' }, 'note.name_pattern', 'filename'],
    [{ note: 'x', filename: '2025-10-09T08-00-00-a/b.md' }, 'note.slug_charset', 'filename'],
    [{ note: 'x', filename: '2025-10-09T08-00-00-a.txt' }, 'note.name_suffix', 'filename'],
    [{ note: 'x', filename: '' }, 'note.name_suffix', 'filename'],
    [{ note: 'x', user_id: 'user-2' }, 'http.unknown_field', 'user_id'],
  ])('refuses %j, naming the field', async (body, code, field) => {
    const { ask, post } = readWorld();
    const answer = await post(NOTES, body);
    expect([answer.status, answer.json]).toMatchObject([400, { code, field }]);
    expect((await ask('/v1/memory')).json).toMatchObject({ version: 0 });
  });

  it('takes no parameters', async () => {
    expect((await readWorld().post(`${NOTES}?overwrite=1`, { note: 'x' })).status).toBe(400);
  });
});
