import { describe, expect, it } from 'vitest';
import { readWorld } from './read-world.ts';

const FILES = {
  'MEMORY.md': '# Task Group: app\nalpha\nneedle\nomega\n',
  'memory_summary.md': 'v1\n',
  'skills/deploy/SKILL.md': 'needle\n',
  'rollout_summaries/a b+c%é.md': 'odd name\n',
};

async function world() {
  const made = readWorld();
  await made.publish(FILES);
  return made;
}

describe('GET /v1/memory/files', () => {
  it('lists the root with the version it was read from', async () => {
    const { ask } = await world();
    const answer = await ask('/v1/memory/files');
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      path: '',
      entries: [
        { path: 'MEMORY.md', entry_type: 'file' },
        { path: 'memory_summary.md', entry_type: 'file' },
        { path: 'rollout_summaries', entry_type: 'directory' },
        { path: 'skills', entry_type: 'directory' },
      ],
      next_cursor: null,
      truncated: false,
      version: 1,
    });
  });

  it('pages, and clamps the size of a page', async () => {
    const { ask } = await world();
    const first = await ask('/v1/memory/files?max_results=2');
    expect(first.json).toMatchObject({ next_cursor: '2', truncated: true });
    const second = await ask('/v1/memory/files?cursor=2&max_results=99999');
    expect(second.json).toMatchObject({
      entries: [{ path: 'rollout_summaries' }, { path: 'skills' }],
      truncated: false,
    });
    expect((await ask('/v1/memory/files?max_results=0')).json).toMatchObject({ next_cursor: '1' });
  });

  it('lists nothing of a memory that does not exist yet', async () => {
    expect((await readWorld().ask('/v1/memory/files')).json).toMatchObject({ entries: [], version: 0 });
  });

  it.each([
    ['?path=nope', 404, 'path.not_found'],
    ['?path=.git', 404, 'path.not_found'],
    ['?path=../x', 400, 'path.invalid'],
    ['?path=skills%2F..%2F..', 400, 'path.invalid'],
    ['?path=/etc', 400, 'path.invalid'],
    ['?cursor=bogus', 400, 'cursor.invalid'],
    ['?cursor=5', 400, 'cursor.invalid'],
    ['?max_results=x', 400, 'http.invalid_field'],
    ['?limit=5', 400, 'http.unknown_field'],
    ['?path=a&path=b', 400, 'http.duplicate_parameter'],
    ['?path=%ff', 400, 'http.invalid_encoding'],
    [`?path=${'a'.repeat(1_025)}`, 400, 'http.invalid_field'],
  ])('refuses %s with %s', async (query, status, code) => {
    const answer = await (await world()).ask(`/v1/memory/files${query}`);
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ code });
  });
});

describe('GET /v1/memory/files/{path}', () => {
  it('reads lines of a file', async () => {
    const answer = await (await world()).ask('/v1/memory/files/MEMORY.md?line_offset=2&max_lines=1');
    expect(answer.json).toEqual({
      path: 'MEMORY.md',
      start_line_number: 2,
      content: 'alpha\n',
      truncated: true,
      version: 1,
    });
  });

  it('finds a file whose name needs escapes, in one segment or in several', async () => {
    const { ask } = await world();
    for (const path of ['rollout_summaries/a%20b+c%25%C3%A9.md', 'rollout_summaries%2Fa%20b%2Bc%25%C3%A9.md'])
      expect((await ask(`/v1/memory/files/${path}`)).json).toMatchObject({ content: 'odd name\n' });
  });

  it('keeps a pinned version readable while newer ones are published', async () => {
    const { ask, publish } = await world();
    await publish({ 'MEMORY.md': 'newer\n' });
    expect((await ask('/v1/memory/files/MEMORY.md')).json).toMatchObject({ content: 'newer\n', version: 2 });
    const pinned = await ask('/v1/memory/files/MEMORY.md?version=1');
    expect(pinned.json).toMatchObject({ content: FILES['MEMORY.md'], version: 1 });
    expect((await ask('/v1/memory/files/skills/deploy/SKILL.md')).status).toBe(404);
    expect((await ask('/v1/memory/files/MEMORY.md?version=3')).json).toMatchObject({
      status: 404,
      code: 'memory.version_not_found',
    });
  });

  it('sends the whole file as it is to who accepts Markdown', async () => {
    const made = readWorld();
    const long = `${'line \u{1F642}\n'.repeat(20_000)}end`;
    await made.publish({ 'MEMORY.md': long, 'extensions/x/odd.bin': new Uint8Array([0xff, 0x00, 0x0a]) });
    const headers = { accept: 'text/markdown' };
    const whole = await made.ask('/v1/memory/files/MEMORY.md?line_offset=3', { headers });
    expect(whole.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(whole.headers.get('vary')).toBe('accept');
    expect(whole.text).toBe(long);
    const cut = await made.ask('/v1/memory/files/MEMORY.md');
    expect(cut.json).toMatchObject({ truncated: true });
    const odd = await made.app.request('/v1/memory/files/extensions/x/odd.bin', { headers });
    expect(odd.headers.get('content-type')).toBe('application/octet-stream');
    expect([...new Uint8Array(await odd.arrayBuffer())]).toEqual([0xff, 0x00, 0x0a]);
    expect((await made.ask('/v1/memory/files/extensions/x/odd.bin')).json).toMatchObject({ code: 'read.not_text' });
  });

  it.each([
    ['nope.md', 404, 'path.not_found'],
    ['skills', 400, 'read.not_a_file'],
    ['skills/', 400, 'read.not_a_file'],
    ['.env', 404, 'path.not_found'],
    ['..%2Fsecret', 400, 'path.invalid'],
    ['skills%2F..%2F..%2Fsecret', 400, 'path.invalid'],
    ['%2e%2e%2fsecret', 400, 'path.invalid'],
    ['%252e%252e%252fsecret', 404, 'path.not_found'],
    ['%2Fetc%2Fpasswd', 400, 'path.invalid'],
    ['/etc/passwd', 400, 'path.invalid'],
    ['C:%5Cx', 404, 'path.not_found'],
    ['..%5Csecret', 404, 'path.not_found'],
    ['MEMORY.md/x', 400, 'path.invalid'],
    ['MEMORY.md%00', 400, 'path.invalid'],
    ['%FF', 400, 'http.invalid_encoding'],
    ['MEMORY.md?line_offset=0', 400, 'read.invalid_offset'],
    ['MEMORY.md?max_lines=0', 400, 'read.invalid_max_lines'],
    ['MEMORY.md?line_offset=99', 400, 'read.past_end'],
    ['MEMORY.md?version=-1', 400, 'http.invalid_field'],
    ['MEMORY.md?version=latest', 400, 'http.invalid_field'],
    ['__proto__', 404, 'path.not_found'],
    ['constructor', 404, 'path.not_found'],
  ])('refuses %s with %s', async (path, status, code) => {
    const { ask } = await world();
    const answer = await ask(`/v1/memory/files/${path}`);
    expect([answer.status, answer.json]).toMatchObject([status, { code }]);
    const asMarkdown = await ask(`/v1/memory/files/${path}`, { headers: { accept: 'text/markdown' } });
    if (!code.startsWith('read.')) expect(asMarkdown.status).toBe(status);
  });

  it.each(['/v1/memory/files/../secret', '/v1/memory/files/%2e%2e/%2e%2e/secret', '/v1/memory/files/a/../../x'])(
    'knows no route once %s is resolved',
    async (path) => {
      expect((await (await world()).ask(path)).json).toMatchObject({ code: 'http.no_such_route' });
    },
  );
});

describe('POST /v1/memory/search', () => {
  it('finds lines in files, by path and line', async () => {
    const answer = await (await world()).post('/v1/memory/search', { queries: [' needle '], context_lines: 1 });
    expect(answer.json).toEqual({
      queries: ['needle'],
      match_mode: { type: 'any' },
      path: null,
      matches: [
        {
          path: 'MEMORY.md',
          match_line_number: 3,
          content_start_line_number: 2,
          content: 'alpha\nneedle\nomega',
          matched_queries: ['needle'],
        },
        {
          path: 'skills/deploy/SKILL.md',
          match_line_number: 1,
          content_start_line_number: 1,
          content: 'needle',
          matched_queries: ['needle'],
        },
      ],
      next_cursor: null,
      truncated: false,
      version: 1,
    });
  });

  it('passes every field on', async () => {
    const { post } = await world();
    const body = {
      queries: ['NEEDLE', 'alph-a'],
      match_mode: { type: 'all_within_lines', line_count: 2 },
      path: 'MEMORY.md',
      cursor: '0',
      context_lines: 0,
      case_sensitive: false,
      normalized: true,
      max_results: 1,
    };
    const found = await post('/v1/memory/search', body);
    expect(found.json).toMatchObject({
      path: 'MEMORY.md',
      match_mode: body.match_mode,
      matches: [{ match_line_number: 2, content: 'alpha\nneedle', matched_queries: body.queries }],
    });
    const strict = await post('/v1/memory/search', { ...body, case_sensitive: true });
    expect(strict.json).toMatchObject({ matches: [] });
    const plain = await post('/v1/memory/search', { ...body, normalized: null });
    expect(plain.json).toMatchObject({ matches: [] });
    const first = await post('/v1/memory/search', { queries: ['needle'], max_results: 1 });
    expect(first.json).toMatchObject({ next_cursor: '1', truncated: true });
    const second = await post('/v1/memory/search', { queries: ['needle'], max_results: 1, cursor: '1' });
    expect(second.json).toMatchObject({ matches: [{ path: 'skills/deploy/SKILL.md' }], next_cursor: null });
  });

  it.each<[unknown, string, RegExp]>([
    [{ queries: [] }, 'search.empty_query', /queries/],
    [{ queries: ['  '] }, 'search.empty_query', /queries/],
    [{ query: 'x' }, 'http.invalid_field', /queries/],
    [{ queries: ['x'], query: 'x' }, 'http.unknown_field', /unknown field: query/],
    [{ queries: ['x'], user_id: 'user-2' }, 'http.unknown_field', /user_id/],
    [{ queries: 'x' }, 'http.invalid_field', /queries must be an array/],
    [{ queries: Array.from({ length: 51 }, () => 'x') }, 'http.invalid_field', /at most 50 items/],
    [{ queries: ['x'.repeat(1_001)] }, 'http.invalid_field', /queries\.0 .* at most 1000/],
    [
      { queries: ['x'], match_mode: { type: 'all_within_lines', line_count: 0 } },
      'search.invalid_window',
      /line_count/,
    ],
    [{ queries: ['x'], match_mode: { type: 'all' } }, 'http.invalid_field', /match_mode\.type/],
    [{ queries: ['x'], context_lines: -1 }, 'http.invalid_field', /context_lines must be at least 0/],
    [{ queries: ['x'], path: '../x' }, 'path.invalid', /path/],
    [{ queries: ['x'], cursor: '-1' }, 'cursor.invalid', /cursor/],
  ])('refuses %j, naming the field', async (body, code, message) => {
    const answer = await (await world()).post('/v1/memory/search', body);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ code, detail: expect.stringMatching(message) });
  });

  it('is asked by POST only', async () => {
    const answer = await (await world()).ask('/v1/memory/search');
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
  });
});
