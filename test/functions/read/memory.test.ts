import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { DEFAULT_SETTINGS } from '../../../core/settings.ts';
import { utf8Length } from '../../../core/text.ts';
import { memoryAnswer } from '../../../functions/read/schema-memory.ts';
import { MemoryTemplateStore } from '../../doubles/memory-template-store.ts';
import { NOW } from '../../support/sample-state.ts';
import { type Answer, readWorld, TEMPLATE } from './read-world.ts';

const SUMMARY = `v1

## User Profile

Works on ships.

## User preferences

- prefers short answers

## General Tips

- run the checks first

## What's in Memory

### host/team/alpha

#### 2025-10-01

- alpha builds: make, cache
  - desc: how alpha is built
  - learnings: only-for-alpha

### /work/beta

#### 2025-10-02

- beta deploys: deploy
  - desc: how beta is deployed
  - learnings: only-for-beta
`;

async function world() {
  const made = readWorld();
  await made.publish({ 'memory_summary.md': SUMMARY, 'MEMORY.md': '# Task Group: alpha\n' });
  return made;
}

function parse(answer: Answer) {
  return z.parse(memoryAnswer, answer.json);
}

describe('GET /v1/memory', () => {
  it('shows the whole memory where no project is named, ready as a developer message', async () => {
    const answer = parse(await (await world()).ask('/v1/memory'));
    expect(answer).toMatchObject({
      enabled: true,
      version: 1,
      published_at: '2025-10-09T08:53:20+00:00',
      scope: { project: null, matched: false },
      truncated: false,
      omitted_tokens: 0,
      base_path: '/home/u/memories',
      pending_notes: [],
      degraded: false,
    });
    expect(answer.summary).toContain('only-for-alpha');
    expect(answer.summary).toContain('only-for-beta');
    expect(answer.instructions).toContain('Below /home/u/memories.');
    expect(answer.instructions).toContain(answer.summary);
  });

  it.each([
    ['?repository=git@host:team/alpha.git', 'host/team/alpha', true, ['only-for-alpha']],
    ['?cwd=%2Fwork%2Fbeta', '/work/beta', true, ['only-for-beta']],
    ['?cwd=/work/beta&repository=https://host/team/alpha', 'host/team/alpha', true, ['only-for-alpha']],
    ['?cwd=/work/elsewhere', '/work/elsewhere', false, []],
    ['?cwd=/work/beta&scope=global', '/work/beta', true, []],
    ['?cwd=/work/beta&scope=all', '/work/beta', true, ['only-for-alpha', 'only-for-beta']],
    ['?scope=global', null, false, []],
  ])('scopes the memory by %s', async (query, project, matched, shown) => {
    const answer = parse(await (await world()).ask(`/v1/memory${query}`));
    expect(answer.scope).toEqual({ project, matched });
    expect(answer.summary).toContain('prefers short answers');
    const found = ['only-for-alpha', 'only-for-beta'].filter((marker) => answer.summary.includes(marker));
    expect(found).toEqual(shown);
    const instructed = ['only-for-alpha', 'only-for-beta'].filter((marker) => answer.instructions?.includes(marker));
    expect(instructed).toEqual(shown);
  });

  it('keeps to the limit of tokens and says what was left out', async () => {
    const { ask } = await world();
    for (const limit of [1, 40, 80]) {
      const answer = parse(await ask(`/v1/memory?max_tokens=${limit}`));
      expect(utf8Length(answer.summary)).toBeLessThanOrEqual(limit * 4);
      expect(answer.truncated).toBe(true);
      expect(answer.omitted_tokens).toBeGreaterThan(0);
    }
  });

  it('answers 200 with nothing where there is no memory yet', async () => {
    const answer = await readWorld().ask('/v1/memory');
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ version: 0, summary: '', published_at: null, instructions: null });
  });

  it('gives no instructions to a user who does not use memories', async () => {
    const made = await world();
    const before = await made.ask('/v1/memory');
    made.settings.set('user-1', { ...DEFAULT_SETTINGS, useMemories: false });
    const after = await made.ask('/v1/memory');
    expect(after.json).toMatchObject({ enabled: false, instructions: null });
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
  });

  it('falls back to the headings of MEMORY.md where the summary is missing', async () => {
    const made = readWorld();
    await made.publish({ 'MEMORY.md': '# Task Group: harbour lights\n\nscope: lamps\n' });
    const answer = parse(await made.ask('/v1/memory'));
    expect(answer.degraded).toBe(true);
    expect(answer.summary).toContain('harbour lights');
  });

  it('shows a waiting note at once', async () => {
    const made = await world();
    const path = 'extensions/ad_hoc/notes/2025-10-09T08-00-00-tabs.md';
    await made.publish({ 'memory_summary.md': SUMMARY, [path]: 'use tabs' }, { reason: 'note' });
    const answer = parse(await made.ask('/v1/memory'));
    expect(answer.pending_notes).toEqual([{ path, text: 'use tabs' }]);
    expect(answer.instructions).toContain('use tabs');
  });

  it.each([
    ['?scope=none', 'http.invalid_field', 'scope'],
    ['?max_tokens=0', 'http.invalid_field', 'max_tokens'],
    ['?max_tokens=2501', 'http.invalid_field', 'max_tokens'],
    ['?max_tokens=ten', 'http.invalid_field', 'max_tokens'],
    ['?version=-1', 'http.invalid_field', 'version'],
    ['?cwd=', 'http.invalid_field', 'cwd'],
    [`?cwd=${'/a'.repeat(2_049)}`, 'http.invalid_field', 'cwd'],
    ['?cwd=/a&cwd=/b', 'http.duplicate_parameter', 'cwd'],
    ['?cwd=%E6%87', 'http.invalid_encoding', undefined],
    ['?user=user-2', 'http.unknown_field', 'user'],
    ['?user_id=user-2', 'http.unknown_field', 'user_id'],
  ])('refuses %s with %s', async (query, code, field) => {
    const answer = await (await world()).ask(`/v1/memory${query}`);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ code, ...(field === undefined ? {} : { field }) });
    expect(answer.headers.get('etag')).toBeNull();
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });
});

describe('the tag of GET /v1/memory', () => {
  it('is strong, quoted, and the same for the same version and parameters, as the bytes are', async () => {
    const { ask, clock } = await world();
    const first = await ask('/v1/memory?cwd=/work/beta&max_tokens=90');
    clock.advance(86_400_000);
    const second = await ask('/v1/memory?max_tokens=90&cwd=%2Fwork%2fbeta&scope=auto');
    expect(first.headers.get('etag')).toMatch(/^"v1-[0-9a-f]{32}"$/);
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    expect(second.headers.get('etag')).toBe(first.headers.get('etag'));
    expect(second.text).toBe(first.text);
  });

  it('differs where the answer may differ', async () => {
    const made = await world();
    const queries = ['', '?cwd=/a', '?repository=/a', '?scope=global', '?scope=all', '?max_tokens=9', '?version=0'];
    const tags = await Promise.all(
      queries.map(async (query) => (await made.ask(`/v1/memory${query}`)).headers.get('etag')),
    );
    await made.publish({ 'memory_summary.md': 'v1\n' });
    tags.push((await made.ask('/v1/memory')).headers.get('etag'));
    await made.heads.reset('user-1');
    tags.push((await made.ask('/v1/memory')).headers.get('etag'));
    expect(new Set(tags).size).toBe(tags.length);
  });

  it('differs between deployments with other instructions, and between resets that reach the same number', async () => {
    const tagOf = async (made: ReturnType<typeof readWorld>) => (await made.ask('/v1/memory')).headers.get('etag');
    const templates = new MemoryTemplateStore({ read_path: TEMPLATE.replace('version: 7', 'version: 8') });
    const tags = await Promise.all([
      tagOf(readWorld()),
      tagOf(readWorld({ templates })),
      tagOf(readWorld({ basePath: '/elsewhere' })),
    ]);
    const made = readWorld();
    await made.heads.reset('user-1');
    tags.push(await tagOf(made));
    expect(new Set(tags).size).toBe(tags.length);
  });

  it('answers 304 without a body to who has it', async () => {
    const { ask } = await world();
    const tag = (await ask('/v1/memory')).headers.get('etag') ?? '';
    for (const sent of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
      const answer = await ask('/v1/memory', { headers: { 'if-none-match': sent } });
      expect([answer.status, answer.text]).toEqual([304, '']);
      expect(answer.headers.get('etag')).toBe(tag);
      expect(answer.headers.get('cache-control')).toBe('private, no-cache');
    }
    const other = await ask('/v1/memory?scope=global', { headers: { 'if-none-match': tag } });
    expect(other.status).toBe(200);
    const head = await ask('/v1/memory', { method: 'HEAD' });
    expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', tag]);
  });

  it('lets a session pin a version: same bytes and tag while newer ones are published', async () => {
    const made = await world();
    const before = await made.ask('/v1/memory?version=1');
    await made.publish({ 'memory_summary.md': 'v1\n' }, { now: NOW + 1 });
    const after = await made.ask('/v1/memory?version=1');
    expect(after.text).toBe(before.text);
    expect(after.headers.get('etag')).toBe(before.headers.get('etag'));
    const tag = before.headers.get('etag') ?? '';
    expect((await made.ask('/v1/memory?version=1', { headers: { 'if-none-match': tag } })).status).toBe(304);
  });

  it('never calls a version unchanged that does not exist', async () => {
    const answer = await (await world()).ask('/v1/memory?version=9', { headers: { 'if-none-match': '*' } });
    expect([answer.status, answer.json]).toMatchObject([404, { code: 'memory.version_not_found' }]);
  });

  it('reads the head once and no file for the current version', async () => {
    const made = await world();
    let reads = 0;
    const counted = readWorld({
      heads: {
        read: async (userKey: string) => {
          reads += 1;
          return made.heads.read(userKey);
        },
        setFence: () => Promise.reject(new Error('unexpected')),
        switchTo: () => Promise.reject(new Error('unexpected')),
        reset: () => Promise.reject(new Error('unexpected')),
      },
    });
    expect((await counted.ask('/v1/memory?cwd=/work/beta')).json).toMatchObject({ version: 1 });
    expect(reads).toBe(1);
  });
});
