import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type Home, openHome } from '../../local/home.ts';
import { serve } from '../../local/serve.ts';
import type { RunningServer } from '../../local/server.ts';
import { SAMPLES, stillroomHere } from '../support/command.ts';

let folder = '';
let home: Home | undefined;
let server: RunningServer | undefined;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stillroom-serve-'));
  await stillroomHere(['run', SAMPLES, '--home', folder, '--model', 'offline', '--json']);
  home = openHome(folder, { create: false });
  server = await serve(home, { port: 0, token: null });
});
afterAll(async () => {
  await server?.close();
  home?.close();
  rmSync(folder, { recursive: true, force: true });
});

const memoryShape = z.looseObject({
  version: z.number(),
  scope: z.object({ project: z.string().nullable(), matched: z.boolean() }),
  summary: z.string(),
  instructions: z.string().nullable(),
  pending_notes: z.array(z.object({ path: z.string(), text: z.string() })),
});

async function memory(query: string): Promise<z.infer<typeof memoryShape>> {
  const answer = await fetch(`${server?.url}/v1/memory${query}`);
  expect(answer.status).toBe(200);
  return memoryShape.parse(await answer.json());
}

function post(path: string, body: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${server?.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

describe('a served home', () => {
  it('A9 shows an agent in a checkout its own project and nothing of another one', async () => {
    const inside = await memory('?cwd=/home/robin/src/harbor-api/src/routes');
    expect(inside.scope).toEqual({ project: 'github.com/quayside/harbor-api', matched: true });
    expect(inside.summary).toContain('pnpm');
    expect(inside.summary).not.toContain('github.com/quayside/lantern');
    expect(inside.summary).not.toContain('github.com/quayside/tidegauge');
    expect(inside.instructions).toContain(inside.summary);
  });

  it('A9 shows an unknown project the global parts only', async () => {
    const unknown = await memory('?cwd=/somewhere/else');
    expect(unknown.scope.matched).toBe(false);
    expect(unknown.summary).toContain('## User preferences');
    expect(unknown.summary).not.toContain('quayside');
  });

  it('answers the same bytes and tag for the same version, and 304 to who has them', async () => {
    const [first, second] = await Promise.all([fetch(`${server?.url}/v1/memory`), fetch(`${server?.url}/v1/memory`)]);
    expect(await first.text()).toBe(await second.text());
    const tag = first.headers.get('etag') ?? '';
    expect((await fetch(`${server?.url}/v1/memory`, { headers: { 'if-none-match': tag } })).status).toBe(304);
  });

  it('finds lines, takes a note that is readable at once, and counts a citation', async () => {
    const found = await (await post('/v1/memory/search', { queries: ['just build'] })).json();
    expect(JSON.stringify(found)).toContain('MEMORY.md');
    expect((await post('/v1/memory/notes', { note: 'the staging host is slow on Mondays' })).status).toBe(201);
    expect((await memory('')).pending_notes.map((note) => note.text)).toEqual(['the staging host is slow on Mondays']);
    const threads = z
      .array(z.looseObject({ thread_id: z.string(), outcome: z.string() }))
      .parse(JSON.parse((await stillroomHere(['threads', '--home', folder, '--json'])).stdout));
    const id = threads.find((thread) => thread.outcome === 'extracted')?.thread_id;
    const cited = await (await post('/v1/citations', { citation: { rollout_ids: [id, 'nobody'] } })).json();
    expect(cited).toMatchObject({ recorded: 1, unknown: ['nobody'] });
  });

  it('tells how it is doing', async () => {
    const status = await (await fetch(`${server?.url}/v1/status`)).json();
    expect(status).toMatchObject({ health: 'ok', memory: { version: expect.any(Number) } });
    expect((await fetch(`${server?.url}/healthz`)).status).toBe(200);
  });

  it('takes a rollout in, shows it, changes and forgets it, and lists the versions', async () => {
    const url = `${server?.url}/v1`;
    const raw = '{"type":"session_meta","payload":{"id":"t-1","cwd":"/work/app","source":"cli"}}\n';
    const put = await fetch(`${url}/rollouts/t-1?ended=true`, { method: 'PUT', body: raw });
    expect(put.status).toBe(202);
    expect(await (await fetch(`${url}/threads/t-1`)).json()).toMatchObject({ thread_id: 't-1', ended: true });
    const headers = { 'content-type': 'application/json' };
    const mode = { method: 'PATCH', headers, body: JSON.stringify({ memory_mode: 'disabled' }) };
    expect(await (await fetch(`${url}/threads/t-1`, mode)).json()).toMatchObject({ memory_mode: 'disabled' });
    expect((await fetch(`${url}/threads/t-1`, { method: 'DELETE' })).status).toBe(200);
    expect((await fetch(`${url}/threads/t-1`)).status).toBe(404);
    const versions = z.array(z.looseObject({ version: z.number() }));
    expect(versions.parse(await (await fetch(`${url}/memory/versions`)).json()).length).toBeGreaterThan(0);
  });

  it('speaks MCP', async () => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    };
    const params = { name: 'memory_summary', arguments: { cwd: '/home/robin/src/harbor-api' } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const answer = await fetch(`${server?.url}/mcp`, { method: 'POST', headers, body });
    expect(await answer.json()).toMatchObject({
      result: { content: [{ type: 'text', text: expect.stringContaining('pnpm') }] },
    });
    expect((await fetch(`${server?.url}/mcp`)).status).toBe(405);
  });

  it('follows the settings that were changed', async () => {
    const url = `${server?.url}/v1/settings`;
    const change = (use: boolean) => ({
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ use_memories: use }),
    });
    expect((await fetch(url, change(false))).status).toBe(200);
    expect((await memory('')).instructions).toBeNull();
    await fetch(url, change(true));
    expect((await memory('')).instructions).not.toBeNull();
  });

  it.each([
    ['/v1/rollouts', 'upload.not_offered', 'PUT /v1/rollouts/{thread_id}'],
    ['/v1/consolidations', 'consolidation.not_offered', 'stillroom run'],
    ['/v1/reset', 'reset.not_offered', 'delete the home folder'],
    ['/v1/erase', 'erase.not_offered', 'delete the home folder'],
  ])('says what to do instead of POST %s', async (path, code, way) => {
    const answer = await post(path, {});
    expect(answer.status).toBe(404);
    const problem = z.object({ code: z.string(), detail: z.string() }).parse(await answer.json());
    expect([problem.code, problem.detail]).toEqual([code, expect.stringContaining(way)]);
  });
});
