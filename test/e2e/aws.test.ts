import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { DynamoTable } from '../../adapters/dynamodb/dynamo-table.ts';
import { DynamoEraseMarks } from '../../adapters/dynamodb/erase-marks.ts';
import { DynamoJobStore } from '../../adapters/dynamodb/job-store.ts';
import { DynamoSettingsStore } from '../../adapters/dynamodb/settings-store.ts';
import { DEFAULT_SETTINGS } from '../../core/settings.ts';
import { type CapturedOutput, captureOutput } from '../support/capture-output.ts';
import { SAMPLES } from '../support/command.ts';
import { codexRollout } from '../support/rollout-builder.ts';
import { AwsWorld } from './aws-world.ts';

let world: AwsWorld;
let output: CapturedOutput;
beforeAll(async () => {
  output = captureOutput();
  world = await AwsWorld.start((name, value) => vi.stubEnv(name, value));
}, 60_000);
afterAll(async () => {
  await world.close();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const uploadShape = z.looseObject({
  thread_id: z.string(),
  upload: z.looseObject({ method: z.literal('PUT'), url: z.string(), headers: z.record(z.string(), z.string()) }),
});
const memoryShape = z.looseObject({ version: z.number(), summary: z.string(), instructions: z.string().nullable() });
const threadShape = z.looseObject({ thread_id: z.string(), outcome: z.unknown(), usage_count: z.number() });

/** Asks for a presigned address and uploads there, as an agent's hook would. */
async function upload(user: string, threadId: string, content: Uint8Array): Promise<number> {
  const asked = await world.ask('control', {
    method: 'POST',
    path: '/v1/rollouts',
    user,
    body: { thread_id: threadId, bytes: content.length, ended: true, source: 'cli' },
  });
  expect(asked.status).toBe(201);
  const { upload: to } = uploadShape.parse(asked.json);
  const answer = await fetch(to.url, { method: to.method, headers: to.headers, body: Buffer.from(content) });
  return answer.status;
}

function sampleSessions(): readonly (readonly [string, Uint8Array])[] {
  return readdirSync(SAMPLES, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => [name, readFileSync(join(SAMPLES, name))] as const);
}

function session(id: string, wish: string): Uint8Array {
  return codexRollout({ id, startAt: Date.now() - 60_000, cwd: '/work/app' })
    .user(`fix the failing test of the parser. ${wish}`)
    .call('exec_command', { cmd: 'npm test' }, 'Error: Cannot find module pnpm\nProcess exited with code 1')
    .call('exec_command', { cmd: 'pnpm test' }, 'Process exited with code 0\n12 passed')
    .assistant('The test passes now; the parser skipped empty lines.')
    .toBytes();
}

const ONE = '019c0000-0000-7000-8000-00000000a001';
const TWO = '019c0000-0000-7000-8000-00000000a002';
const OTHER = '019c0000-0000-7000-8000-00000000b001';

describe('the deployed bundles, end to end', () => {
  it('an upload becomes a memory that is read, searched and cited', async () => {
    expect(await upload('ada', ONE, session(ONE, 'Always use pnpm here, never npm.'))).toBe(200);
    expect(await upload('ada', TWO, session(TWO, 'I prefer small commits.'))).toBe(200);
    expect(await world.drain()).toBeGreaterThanOrEqual(2);
    const before = await world.ask('read', { path: '/v1/memory', user: 'ada' });
    expect(before.json).toMatchObject({ version: 0, summary: '' });

    const [run, ...more] = await world.sweep();
    expect(more).toEqual([]);
    expect(run).toMatchObject({ status: 'SUCCEEDED', result: { result: 'published', version: 1 } });

    const read = await world.ask('read', { path: '/v1/memory?scope=all', user: 'ada' });
    expect(read.status).toBe(200);
    const memory = memoryShape.parse(read.json);
    expect(memory.version).toBe(1);
    expect(memory.summary).toContain('pnpm');
    expect(memory.instructions).toContain('pnpm');
    const found = await world.ask('read', {
      method: 'POST',
      path: '/v1/memory/search',
      user: 'ada',
      body: { queries: ['small commits'] },
    });
    expect(JSON.stringify(found.json)).toContain('small commits');
    const file = await world.ask('read', { path: '/v1/memory/files/MEMORY.md', user: 'ada' });
    expect(JSON.stringify(file.json)).toContain(ONE);

    const cited = await world.ask('read', {
      method: 'POST',
      path: '/v1/citations',
      user: 'ada',
      body: { citation: { rollout_ids: [ONE, OTHER] } },
    });
    expect(cited.json).toMatchObject({ recorded: 1, unknown: [OTHER] });
    const thread = await world.ask('control', { path: `/v1/threads/${ONE}`, user: 'ada' });
    expect(threadShape.parse(thread.json).usage_count).toBe(1);
  }, 60_000);

  it('with nothing new, a sweep starts nothing', async () => {
    expect(await world.sweep()).toEqual([]);
    expect(await world.drain()).toBe(0);
  });

  it('the same upload again costs no call and makes no version', async () => {
    expect(await upload('ada', ONE, session(ONE, 'Always use pnpm here, never npm.'))).toBe(200);
    await world.drain();
    const status = await world.ask('read', { path: '/v1/status', user: 'ada' });
    expect(status.json).toMatchObject({ threads: { total: 2 }, memory: { version: 1 } });
  });

  it('a note is there at the next read, and in the memory after "now"', async () => {
    const note = await world.ask('control', {
      method: 'POST',
      path: '/v1/memory/notes',
      user: 'ada',
      body: { note: 'The release branch is called harbour.' },
    });
    expect(note.status).toBe(201);
    const read = await world.ask('read', { path: '/v1/memory', user: 'ada' });
    expect(JSON.stringify(read.json)).toContain('harbour');
    const now = await world.ask('control', { method: 'POST', path: '/v1/consolidations', user: 'ada' });
    expect(now.status).toBe(202);
    expect(await world.settle()).toMatchObject([{ status: 'SUCCEEDED', result: { result: 'published' } }]);
    const after = await world.ask('read', { path: '/v1/memory', user: 'ada' });
    expect(after.json).toMatchObject({ pending_notes: [] });
  }, 60_000);

  it('MCP serves the same memory', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'memory_summary', arguments: {} } };
    const answer = await world.askMcp(call, 'ada');
    expect(JSON.stringify(answer.json)).toContain('pnpm');
  });

  it('all sample sessions go through, each with a named outcome', async () => {
    const sessions = sampleSessions();
    for (const [name, content] of sessions) {
      const id = /([0-9a-f]{8}-[0-9a-f-]{27})/.exec(name)?.[1] ?? name.replaceAll(/[^A-Za-z0-9._-]/g, '-');
      expect(await upload('grace', id, content)).toBe(200);
    }
    await world.drain();
    const listed = z
      .looseObject({ threads: z.array(z.looseObject({ outcome: z.unknown() })) })
      .parse((await world.ask('control', { path: '/v1/threads', user: 'grace' })).json);
    expect(listed.threads).toHaveLength(sessions.length);
    expect(listed.threads.every((thread) => thread.outcome !== null)).toBe(true);
  }, 60_000);

  it('erase leaves no version, no marker, no item, and nobody else less', async () => {
    await upload('ada', TWO, session(TWO, 'One more thing.')); // its event is still in the queue
    const others = [await world.itemsOf('grace'), world.versionsOf('grace')];
    expect(world.versionsOf('ada').length).toBeGreaterThan(0);
    const answer = await world.ask('control', {
      method: 'POST',
      path: '/v1/erase',
      user: 'ada',
      body: { confirm: 'ada' },
    });
    expect(answer.status).toBe(200);
    await world.drain();
    await world.sweep();
    expect(await world.itemsOf('ada')).toEqual([]);
    expect(world.versionsOf('ada')).toEqual([]);
    expect([await world.itemsOf('grace'), world.versionsOf('grace')]).toEqual(others);
    expect((await world.ask('read', { path: '/v1/memory', user: 'ada' })).json).toMatchObject({ version: 0 });
  }, 60_000);

  it('erase while a run is under way gives the receipt only after it, and nothing that came late stays', async () => {
    await upload('eve', OTHER, session(OTHER, 'Use tabs.'));
    await world.drain();
    const table = new DynamoTable(world.table.client, world.table.tableName);
    const run = { token: 'k', now: Date.now(), leaseMs: 60_000 };
    await new DynamoJobStore(table).claim('eve', { kind: 'consolidation' }, run);
    const erase = () =>
      world.ask('control', { method: 'POST', path: '/v1/erase', user: 'eve', body: { confirm: 'eve' } });
    expect(await erase()).toMatchObject({ status: 503, json: { code: 'erase.runs_in_flight' } });
    expect((await world.itemsOf('eve')).map((item) => item['sk'])).toEqual(['erase']);
    expect(world.versionsOf('eve')).toEqual([]);
    await new DynamoSettingsStore(table).write('eve', DEFAULT_SETTINGS); // as what a run writes late
    expect((await erase()).status).toBe(503);
    await new DynamoEraseMarks(table).write('eve', Date.now()); // its time is over
    expect((await erase()).status).toBe(200);
    expect([await world.itemsOf('eve'), world.versionsOf('eve')]).toEqual([[], []]);
  }, 60_000);

  it('B31 no log and no metric of all this holds what was said', () => {
    const text = output.text();
    expect(output.lines().length).toBeGreaterThan(20);
    for (const content of ['pnpm', 'small commits', 'harbour', 'parser', 'the-key'])
      expect(text).not.toContain(content);
  });
});
