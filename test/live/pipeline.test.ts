import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { type CapturedOutput, captureOutput } from '../support/capture-output.ts';
import { liveBuckets } from '../support/live-buckets.ts';
import { liveQueues } from '../support/live-queues.ts';
import { liveTable } from '../support/live-table.ts';
import { codexRollout } from '../support/rollout-builder.ts';
import { LiveWorld } from './live-world.ts';

const ONE = '019c0000-0000-7000-8000-00000000a001';
const TWO = '019c0000-0000-7000-8000-00000000a002';
const OTHER = '019c0000-0000-7000-8000-00000000b001';
const AT = Date.now() - 60_000;
const NOTHING = { items: 0, versions: 0, uploads: 0 };

const ground = { tableName: liveTable(), buckets: liveBuckets(), queues: liveQueues() };
let output: CapturedOutput;
let world: LiveWorld;
beforeAll(async () => {
  output = captureOutput();
  world = await LiveWorld.start(ground, (name, value) => vi.stubEnv(name, value));
});
afterAll(async () => {
  vi.restoreAllMocks();
  await world.close();
  vi.unstubAllEnvs();
});

const offerShape = z.looseObject({
  upload: z.looseObject({ method: z.literal('PUT'), url: z.url(), headers: z.record(z.string(), z.string()) }),
});
const memoryShape = z.looseObject({ version: z.number(), summary: z.string(), instructions: z.string().nullable() });
const threadShape = z.looseObject({ outcome: z.unknown(), usage_count: z.number() });

function session(id: string, wish: string): Buffer<ArrayBuffer> {
  const rollout = codexRollout({ id, startAt: AT, cwd: '/work/app' })
    .user(`fix the failing test of the parser. ${wish}`)
    .call('exec_command', { cmd: 'npm test' }, 'Error: Cannot find module pnpm\nProcess exited with code 1')
    .call('exec_command', { cmd: 'pnpm test' }, 'Process exited with code 0\n12 passed')
    .assistant('The test passes now; the parser skipped empty lines.');
  return Buffer.from(rollout.toBytes());
}

/** Asks for a presigned address, uploads there with plain HTTP, and tells the queue, as S3 does. */
async function upload(user: string, threadId: string, content: Buffer<ArrayBuffer>): Promise<void> {
  const body = { thread_id: threadId, bytes: content.length, ended: true, source: 'cli', cwd: '/work/app' };
  const asked = await world.ask('control', { method: 'POST', path: '/v1/rollouts', user, body });
  expect(asked.status).toBe(201);
  const { url, method, headers } = offerShape.parse(asked.json).upload;
  expect((await fetch(url, { method, headers, body: content })).status).toBe(200);
  await world.announce(user, threadId);
}

describe('the whole path at the endpoint', () => {
  it('makes a memory of uploads: read, searched and cited', async () => {
    await upload('ada', ONE, session(ONE, 'Always use pnpm here, never npm.'));
    await upload('ada', TWO, session(TWO, 'I prefer small commits.'));
    await upload('grace', OTHER, session(OTHER, 'Keep the release branch called harbour.'));
    await world.announce('ada', ONE); // SQS delivers at least once
    const { given, failed } = await world.drain();
    expect(failed).toBe(0);
    expect(given).toBeGreaterThan(4); // an upload's own event, and its thread's turn
    const runs = await world.sweep();
    expect(runs).toMatchObject(
      [1, 1].map((version) => ({ status: 'SUCCEEDED', result: { result: 'published', version } })),
    );

    const read = await world.ask('read', { path: '/v1/memory?scope=all', user: 'ada' });
    const memory = memoryShape.parse(read.json);
    expect(memory.version).toBe(1);
    for (const text of [memory.summary, memory.instructions ?? '']) {
      expect(text).toContain('pnpm');
      expect(text).not.toContain('harbour');
    }
    const search = { method: 'POST', path: '/v1/memory/search', user: 'ada', body: { queries: ['small commits'] } };
    expect(JSON.stringify((await world.ask('read', search)).json)).toContain('small commits');
    const file = await world.ask('read', { path: '/v1/memory/files/MEMORY.md', user: 'ada' });
    expect(JSON.stringify(file.json)).toContain(ONE);

    const citation = { rollout_ids: [ONE, OTHER] };
    const cite = { method: 'POST', path: '/v1/citations?idempotency_key=k', user: 'ada', body: { citation } };
    for (let time = 0; time < 2; time++)
      expect((await world.ask('read', cite)).json).toMatchObject({ recorded: 1, unknown: [OTHER] });
    const thread = await world.ask('control', { path: `/v1/threads/${ONE}`, user: 'ada' });
    expect(threadShape.parse(thread.json).usage_count).toBe(1);
  });

  it('starts nothing where nothing is new, also after the same upload again', async () => {
    await upload('ada', ONE, session(ONE, 'Always use pnpm here, never npm.'));
    expect((await world.drain()).failed).toBe(0);
    expect(await world.sweep()).toEqual([]);
  });

  it('publishes a note as a version that is there at the next read', async () => {
    const body = { note: 'The staging server is called lighthouse.' };
    const note = await world.ask('control', { method: 'POST', path: '/v1/memory/notes', user: 'ada', body });
    expect(note.status).toBe(201);
    const read = await world.ask('read', { path: '/v1/memory?scope=all', user: 'ada' });
    expect(memoryShape.parse(read.json).version).toBe(2);
    expect(JSON.stringify(read.json)).toContain('lighthouse');
  });

  it('erases a user: no item, version, marker or upload is left, and others keep theirs', async () => {
    await upload('ada', TWO, session(TWO, 'One more thing.')); // its message is still in the queue
    const others = await world.leftOf('grace');
    expect((await world.leftOf('ada')).versions).toBeGreaterThan(5);
    const erase = { method: 'POST', path: '/v1/erase', user: 'ada', body: { confirm: 'ada' } };
    expect((await world.ask('control', erase)).status).toBe(200);
    expect(await world.leftOf('ada')).toEqual(NOTHING);
    expect((await world.drain()).failed).toBe(0);
    expect(await world.sweep()).toEqual([]);
    expect(await world.leftOf('ada')).toEqual(NOTHING);
    expect(await world.leftOf('grace')).toEqual(others);
    expect((await world.ask('read', { path: '/v1/memory', user: 'ada' })).json).toMatchObject({ version: 0 });
  });

  it('B31 says nothing of it in logs and metrics', () => {
    expect(output.lines().length).toBeGreaterThan(10);
    for (const content of ['pnpm', 'small commits', 'harbour', 'lighthouse', 'parser', ['sk', 'live'].join('-')])
      expect(output.text()).not.toContain(content);
  });
});
