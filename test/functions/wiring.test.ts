import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { NO_USAGE } from '../../core/agent/token-usage.ts';
import { publishVersion } from '../../core/consolidation/publish.ts';
import { toUserKey } from '../../core/ids.ts';
import { encodeUtf8 } from '../../core/text.ts';
import { createControlApp } from '../../functions/control/app.ts';
import { readEnv as readControlEnv } from '../../functions/control/env.ts';
import { wireControl } from '../../functions/control/wire.ts';
import { createGatewayHandler } from '../../functions/http/gateway-handler.ts';
import { createMcpApp } from '../../functions/mcp/app.ts';
import { readEnv as readMcpEnv } from '../../functions/mcp/env.ts';
import { wireMcp } from '../../functions/mcp/wire.ts';
import { createReadApp } from '../../functions/read/app.ts';
import type { ReadAppDeps } from '../../functions/read/deps.ts';
import { readEnv } from '../../functions/read/env.ts';
import { wireRead } from '../../functions/read/wire.ts';
import { type Emulator, startEmulator } from '../support/dynalite.ts';
import { FakeS3 } from '../support/fake-s3.ts';
import { type GatewayAsk, gatewayEvent, tokenOf } from '../support/gateway-event.ts';
import { NOW } from '../support/sample-state.ts';

const USER = 'a/b';
const KEY = toUserKey(USER);
const JSON_BODY = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

let emulator: Emulator;
let s3: FakeS3;
const queue = mockClient(SQSClient);
const functions = mockClient(LambdaClient);
const asked = vi.spyOn(DynamoDBDocumentClient.prototype, 'send');

beforeAll(async () => {
  emulator = await startEmulator();
  s3 = await FakeS3.start({ everyClient: true });
  vi.stubEnv('AWS_REGION', 'eu-central-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'key-id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'key');
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', emulator.endpoint);
});

afterAll(async () => {
  vi.unstubAllEnvs();
  asked.mockRestore();
  queue.restore();
  functions.restore();
  s3.close();
  await emulator.close();
});

beforeEach(() => {
  queue.reset();
  queue.on(SendMessageBatchCommand).resolves({ Successful: [], Failed: [] });
  functions.reset();
  functions.on(InvokeCommand).resolves({ StatusCode: 202 });
});

type App = Parameters<typeof createGatewayHandler>[0]['app'];

/** The three functions as their handlers wire them, on one fresh table. */
async function deploy() {
  const variables = {
    STAGE: 'test',
    TABLE_NAME: await emulator.createTable(),
    MEMORIES_BUCKET: 'memories',
    ROLLOUTS_BUCKET: 'rollouts',
    QUEUE_URL: 'https://sqs.eu-central-1.amazonaws.com/123456789012/rollouts',
    CONSOLIDATION_FUNCTION: 'arn:aws:lambda:eu-central-1:123456789012:function:phase2:live',
    TEMPLATES_FOLDER: 'layers/templates',
    API_URL: 'https://memory.example/',
    AUTH_MODE: 'jwt',
    DAILY_TOKEN_BUDGET: '12345',
  };
  const reading = wireRead(readEnv(variables));
  const controlling = wireControl(readControlEnv(variables));
  const tools = wireMcp(readMcpEnv(variables));
  return {
    publish: (files: Readonly<Record<string, string>>) => publish(reading, files),
    read: asker(createReadApp(reading), reading),
    control: asker(createControlApp(controlling), controlling),
    mcp: asker(createMcpApp(tools), tools),
  };
}

async function publish(stores: ReadAppDeps, files: Readonly<Record<string, string>>): Promise<void> {
  const result = await publishVersion(stores, {
    userKey: KEY,
    base: { manifest: undefined, epoch: 0 },
    fence: null,
    reason: 'consolidation',
    actor: 'test',
    files: new Map(Object.entries(files).map(([path, text]) => [path, encodeUtf8(text)])),
    inputs: [],
    removed: [],
    notesConsumed: [],
    model: null,
    promptVersion: null,
    tokenUsage: NO_USAGE,
    now: NOW,
  });
  expect(result.kind).toBe('published');
}

function asker(app: App, wired: Omit<Parameters<typeof createGatewayHandler>[0], 'app'>) {
  const handle = createGatewayHandler({ ...wired, app });
  return async (path: string, ask: Omit<GatewayAsk, 'path'> = {}) => {
    const headers = ask.body === undefined ? {} : JSON_BODY;
    const answer = await handle(
      gatewayEvent({ caller: tokenOf(USER), ...ask, path, headers: { ...headers, ...ask.headers } }),
    );
    const json: unknown = JSON.parse(answer.body || 'null');
    return { status: answer.statusCode, location: answer.headers['location'], json };
  };
}

function post(body: unknown): Omit<GatewayAsk, 'path'> {
  return { method: 'POST', body: JSON.stringify(body) };
}

/** The table requests of a piece of work, by name. */
async function requestsOf(work: () => Promise<unknown>): Promise<string[]> {
  asked.mockClear();
  await work();
  return asked.mock.calls.map(([command]) => command.constructor.name);
}

describe('the functions on their AWS adapters', () => {
  it('read the memory with one table request and no object', async () => {
    const { read, mcp, publish } = await deploy();
    await publish({ 'memory_summary.md': 'v1\n\n## User Profile\n\nuses pnpm\n' });
    const objects = s3.calls.length;
    const seen: unknown[] = [];
    const requests = await requestsOf(async () => seen.push(await read('/v1/memory')));
    expect(requests).toEqual(['BatchGetCommand']);
    const base = 'https://memory.example/v1/memory/files';
    const summary = expect.stringContaining('uses pnpm');
    expect(seen).toMatchObject([{ status: 200, json: { version: 1, base_path: base, summary } }]);
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'memory_summary', arguments: {} } };
    const tool: unknown[] = [];
    expect(await requestsOf(async () => tool.push(await mcp('/mcp', post(call))))).toEqual(['BatchGetCommand']);
    expect(JSON.stringify(tool)).toContain('uses pnpm');
    expect(s3.calls.length).toBe(objects);
  });

  it('lead to a file that is too large by a link to exactly its version', async () => {
    const { read, publish } = await deploy();
    await publish({ 'skills/big/notes.md': 'x'.repeat(5_000_000) });
    const answer = await read('/v1/memory/files/skills/big/notes.md', { headers: { accept: 'text/markdown' } });
    expect(answer.status).toBe(307);
    const url = new URL(answer.location ?? '');
    expect(decodeURIComponent(url.pathname)).toBe(`/users/${KEY}/memories/skills/big/notes.md`);
    expect(url.searchParams.get('versionId')).toMatch(/./);
    expect(url.searchParams.get('X-Amz-Expires')).toBe('300');
  });

  it('take a note where versions may be written, and read it by version and by its words', async () => {
    const { read, control } = await deploy();
    expect((await read('/v1/memory/notes', post({ note: 'use pnpm here' }))).status).toBe(404);
    const note = await control('/v1/memory/notes', post({ note: 'use pnpm here' }));
    const { path } = z.object({ path: z.string() }).parse(note.json);
    expect((await read(`/v1/memory/files/${path}`)).json).toMatchObject({ content: 'use pnpm here' });
    expect((await read('/v1/memory/search', post({ queries: ['pnpm'] }))).json).toMatchObject({ matches: [{ path }] });
    // The deployment's budget, not the built-in one.
    expect((await read('/v1/status')).json).toMatchObject({ usage: { budget: 12_345 } });
  });

  it('sign uploads for the caller alone', async () => {
    const { control } = await deploy();
    const answer = await control('/v1/rollouts', post({ thread_id: 't-1', bytes: 41_943_040, cwd: '/wörk' }));
    const { upload } = z
      .object({ upload: z.object({ url: z.url(), headers: z.record(z.string(), z.string()) }) })
      .parse(answer.json);
    const url = new URL(upload.url);
    expect(decodeURIComponent(url.pathname)).toBe(`/rollouts/${KEY}/t-1.jsonl`);
    expect(url.host).toMatch(/^rollouts\./);
    expect(upload.headers['x-amz-meta-cwd']).toBe('%2Fw%C3%B6rk');
  });

  it('take a rollout in, start a consolidation once, and erase everything', async () => {
    const { control } = await deploy();
    const raw = '{"type":"session_meta","payload":{"id":"t-1","cwd":"/work/app","source":"cli"}}\n';
    const put = await control('/v1/rollouts/t-1?ended=true', { method: 'PUT', body: Buffer.from(raw) });
    expect(put.status).toBe(202);
    expect((await control('/v1/threads')).json).toMatchObject({
      threads: [{ thread_id: 't-1', cwd: '/work/app', ended: true }],
    });
    const [message] = queue.commandCalls(SendMessageBatchCommand);
    expect(message?.args[0].input.Entries?.map((entry) => JSON.parse(entry.MessageBody ?? ''))).toEqual([
      { kind: 'thread-due', user_key: KEY, thread_id: 't-1' },
    ]);
    expect((await control('/v1/consolidations', post({}))).status).toBe(202);
    expect(functions.commandCalls(InvokeCommand)[0]?.args[0].input).toMatchObject({ InvocationType: 'Event' });
    await control('/v1/memory/notes', post({ note: 'mine' }));
    await control('/v1/settings', { method: 'PATCH', body: JSON.stringify({ max_unused_days: 7 }) });
    expect((await control('/v1/settings')).json).toMatchObject({ max_unused_days: 7 });
    const erased = await control('/v1/erase', post({ confirm: USER }));
    expect(erased).toMatchObject({ status: 200, json: { counts: { objects: expect.any(Number), messages: 0 } } });
    expect((await control('/v1/threads')).json).toMatchObject({ threads: [] });
    expect((await control('/v1/erase', post({ confirm: USER }))).json).toMatchObject({
      counts: { objects: 0, versions: 0, messages: 0 },
    });
  });
});

describe('an environment', () => {
  const good = { STAGE: 's', TABLE_NAME: 't', MEMORIES_BUCKET: 'm', AUTH_MODE: 'jwt' };

  it('has defaults where there are any', () => {
    expect(readEnv(good)).toMatchObject({
      userClaim: 'sub',
      templatesFolder: '/opt/templates',
      basePath: '/v1/memory/files',
    });
  });

  it.each<[string, Record<string, string>]>([
    ['TABLE_NAME', { TABLE_NAME: '' }],
    ['AUTH_MODE', { AUTH_MODE: 'none' }],
    ['USER_CLAIM', { USER_CLAIM: '{userClaim}' }],
    ['USER_CLAIM', { USER_CLAIM: 'Token[TOKEN.1]' }],
    ['API_URL', { API_URL: 'memory.example' }],
  ])('B14 with a wrong %s does not start, and the value is not shown', (name, change) => {
    expect(() => readEnv({ ...good, ...change })).toThrow(
      expect.objectContaining({ code: 'env.invalid', details: { names: name } }),
    );
  });

  it('names all that is missing at once', () => {
    expect(() => readControlEnv({})).toThrow(/STAGE.*TABLE_NAME.*QUEUE_URL.*CONSOLIDATION_FUNCTION/);
  });
});
