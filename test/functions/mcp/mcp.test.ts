import { describe, expect, it } from 'vitest';
import { DefectError, UnavailableError } from '../../../core/errors.ts';
import { DEFAULT_SETTINGS } from '../../../core/settings.ts';
import { MEMORY_TOOLS } from '../../../functions/mcp/tools.ts';
import { MemoryHeadStore } from '../../doubles/memory-head-store.ts';
import { sampleHead, sampleJob } from '../../support/sample-state.ts';
import { MODERN, mcpWorld } from './mcp-world.ts';

const NAMES = ['memory_summary', 'memory_list', 'memory_read', 'memory_search', 'memory_add_note', 'memory_cite'];
const FILES = {
  'MEMORY.md': '# Task Group: app\nuse pnpm\n',
  'memory_summary.md': 'v1\n\n## User Profile\n\nlikes tests\n',
};

describe('the MCP endpoint', () => {
  it('shakes hands and offers tools, resource and prompt', async () => {
    const { rpc } = mcpWorld();
    const client = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
    expect((await rpc('initialize', client)).result).toMatchObject({
      protocolVersion: '2025-11-25',
      serverInfo: { name: 'stillroom' },
    });
    const { tools } = (await rpc('tools/list')).result as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(NAMES);
    expect((await rpc('resources/list')).result).toMatchObject({ resources: [{ uri: 'memory://summary' }] });
    expect((await rpc('prompts/list')).result).toMatchObject({ prompts: [{ name: 'memory' }] });
  });

  it('answers clients of the newest protocol without a handshake, in JSON, and opens no stream', async () => {
    const { ask, publish } = mcpWorld();
    await publish(FILES);
    const modern = (method: string, params: object, name?: string) => {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': MODERN,
        'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      const named = name === undefined ? {} : { 'mcp-name': name };
      const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': method, ...named };
      return ask({ headers, body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } } });
    };
    expect((await modern('server/discover', {})).json).toMatchObject({ result: { supportedVersions: [MODERN] } });
    const called = await modern('tools/call', { name: 'memory_summary', arguments: {} }, 'memory_summary');
    expect(called.headers['content-type']).toBe('application/json');
    expect(called.json).toMatchObject({ result: { content: [{ text: expect.stringContaining('likes tests') }] } });
    const listened = await modern('subscriptions/listen', { notifications: {} });
    expect(listened.json).toMatchObject({ error: { message: expect.stringContaining('limit') } });
  });

  it('acknowledges notifications', async () => {
    const { ask } = mcpWorld();
    const answer = await ask({ body: { jsonrpc: '2.0', method: 'notifications/initialized' } });
    expect([answer.status, answer.text]).toEqual([202, '']);
  });

  it.each(['GET', 'DELETE', 'PUT'])('has no sessions: %s is answered 405', async (method) => {
    const answer = await mcpWorld().ask({ method });
    expect([answer.status, answer.headers['allow']]).toEqual([405, 'POST']);
  });

  it.each<[number, string, object]>([
    [415, 'http.unsupported_media_type', { raw: '{}', headers: { 'content-type': 'text/plain' } }],
    [413, 'http.body_too_large', { raw: `"${'x'.repeat(1_100_000)}"` }],
    [401, 'auth.not_authorized', { body: {}, caller: { kind: 'nobody' } }],
    [401, 'auth.not_authorized', { body: {}, caller: { kind: 'iam' }, headers: { 'x-stillroom-user': 'user-1' } }],
  ])('answers %s %s as a problem, before the protocol', async (status, code, request) => {
    expect(await mcpWorld().ask(request)).toMatchObject({ status, json: { code } });
  });

  it.each(['{"jsonrpc"', '[]', '7', '{"method":"tools/list"}'])(
    'answers %s with an error of the protocol',
    async (raw) => {
      expect(await mcpWorld().ask({ raw })).toMatchObject({
        status: 400,
        json: { error: { code: expect.any(Number) } },
      });
    },
  );
});

describe('the tools', () => {
  it('read the memory: summary, list, lines, search', async () => {
    const { call, publish } = mcpWorld();
    const version = await publish(FILES);
    expect((await call('memory_summary', { cwd: '/work/app' })).text).toContain('likes tests');
    expect(JSON.parse((await call('memory_list')).text)).toMatchObject({
      entries: [{ path: 'MEMORY.md' }, { path: 'memory_summary.md' }],
      version,
    });
    const read = await call('memory_read', { path: 'MEMORY.md', line_offset: 2 });
    expect(JSON.parse(read.text)).toMatchObject({ content: 'use pnpm\n', start_line_number: 2 });
    expect(JSON.parse((await call('memory_search', { queries: ['pnpm'] })).text)).toMatchObject({
      matches: [{ path: 'MEMORY.md', match_line_number: 2 }],
    });
  });

  it('add a note that the next summary shows', async () => {
    const { call, publish, memories } = mcpWorld();
    await publish(FILES);
    const made = JSON.parse((await call('memory_add_note', { note: 'the build needs node 24' })).text);
    expect(made).toMatchObject({ pending: true });
    expect((await call('memory_summary')).text).toContain('the build needs node 24');
    expect((await memories.manifest('user-1', 2))?.actor).toBe('mcp');
  });

  it('count what an answer used, once a key', async () => {
    const { call, table, stageOne } = mcpWorld();
    table.setRow('user-1', 't-1', { job: sampleJob({ status: 'done' }), head: sampleHead({ threadId: 't-1' }) });
    const cite = { rollout_ids: ['t-1', 'unknown'], idempotency_key: 'k' };
    for (let time = 0; time < 2; time++)
      expect(JSON.parse((await call('memory_cite', cite)).text)).toMatchObject({ recorded: 1, unknown: ['unknown'] });
    expect((await stageOne.head('user-1', 't-1'))?.usageCount).toBe(1);
    const text = 'Done.\n<oai-mem-citation>\n<rollout_ids>\nt-1\n</rollout_ids>\n</oai-mem-citation>';
    expect(JSON.parse((await call('memory_cite', { text })).text)).toMatchObject({
      recorded: 1,
      visible_text: expect.stringMatching(/^Done\.\s*$/),
    });
  });

  it('say so when there is nothing yet, or when the use of memories is off', async () => {
    const { call, publish, settings, rpc } = mcpWorld();
    expect((await call('memory_summary')).text).toBe('There is no memory yet.');
    await publish(FILES);
    settings.set('user-1', { ...DEFAULT_SETTINGS, useMemories: false });
    expect((await call('memory_summary')).text).toContain('switched');
    const resource = await rpc('resources/read', { uri: 'memory://summary' });
    expect(JSON.stringify(resource)).not.toContain('likes tests');
  });

  it.each<[string, string, unknown]>([
    ['path.not_found', 'memory_read', { path: 'nothing.md' }],
    ['path.invalid', 'memory_read', { path: '../user-2/MEMORY.md' }],
    ['path.invalid', 'memory_list', { path: '/etc' }],
    ['read.past_end', 'memory_read', { path: 'MEMORY.md', line_offset: 99 }],
    ['arguments.invalid', 'memory_read', {}],
    ['arguments.unknown_field', 'memory_search', { query: 'pnpm' }],
    ['arguments.unknown_field', 'memory_summary', { user_id: 'user-2' }],
    ['arguments.invalid', 'memory_summary', { max_tokens: 0 }],
    ['search.empty_query', 'memory_search', { queries: [' '] }],
    ['arguments.invalid', 'memory_add_note', { note: 7 }],
    ['arguments.invalid', 'memory_cite', {}],
    ['arguments.invalid', 'memory_cite', { text: 'x', rollout_ids: [] }],
  ])('tell a model its mistake: %s from %s', async (code, name, args) => {
    const { call, publish, telemetry } = mcpWorld();
    await publish(FILES);
    expect(await call(name, args)).toEqual({ isError: true, text: expect.stringContaining(`(${code})`) });
    expect(telemetry.events).toEqual([]);
  });

  it.each<[string, object]>([
    ['tools/call', { name: 'memory_erase', arguments: {} }],
    ['resources/read', { uri: 'memory://users/user-2' }],
    ['prompts/get', { name: 'other' }],
    ['prompts/get', { name: 'memory', arguments: { user: 'user-2' } }],
  ])('%s of what there is not is an error of the protocol', async (method, params) => {
    expect((await mcpWorld().rpc(method, params)).error?.code).toBeLessThan(-32_000);
  });

  it('offer no property that they do not take', async () => {
    const { call } = mcpWorld();
    const samples: Record<string, unknown> = {
      string: 'x',
      integer: 1,
      boolean: true,
      array: ['x'],
      object: { type: 'any' },
    };
    for (const { definition } of MEMORY_TOOLS) {
      for (const [name, property] of Object.entries(definition.inputSchema.properties ?? {})) {
        const { type } = property as { type: string };
        expect(samples).toHaveProperty(type);
        expect((await call(definition.name, { [name]: samples[type] })).text).not.toContain('unknown field');
      }
      expect((await call(definition.name, { other: 1 })).text).toContain('unknown field');
    }
  });
});

describe('B31 a store that fails', () => {
  const MARKER = 'words-of-the-user';

  class BrokenHeads extends MemoryHeadStore {
    readonly #failure: unknown;

    constructor(failure: unknown) {
      super();
      this.#failure = failure;
    }

    override async read(): Promise<never> {
      throw this.#failure;
    }
  }

  it.each([new DefectError('store.unreadable', MARKER, { details: { row: MARKER } }), new RangeError(MARKER)])(
    'through a fault of ours is an internal error that shows and logs nothing of it',
    async (failure) => {
      const { rpc, telemetry } = mcpWorld({ heads: new BrokenHeads(failure) });
      const requests: [string, object][] = [
        ['tools/call', { name: 'memory_read', arguments: { path: MARKER } }],
        ['resources/read', { uri: 'memory://summary' }],
        ['prompts/get', { name: 'memory', arguments: { cwd: `/${MARKER}` } }],
      ];
      for (const [method, params] of requests) {
        const answer = await rpc(method, params);
        expect(answer.error?.code).toBe(-32_603);
        expect(JSON.stringify(answer)).not.toContain(MARKER);
      }
      expect(telemetry.events).toHaveLength(requests.length);
      expect(JSON.stringify(telemetry.events)).not.toContain(MARKER);
    },
  );

  it('for a while is a result that a model can understand', async () => {
    const failure = new UnavailableError('store.down', 'the store is not reachable');
    const { call } = mcpWorld({ heads: new BrokenHeads(failure) });
    expect(await call('memory_list')).toEqual({ isError: true, text: 'the store is not reachable (store.down)' });
  });
});

describe('a version that a session holds on to (A38)', () => {
  it('is what every reading tool answers from', async () => {
    const { call, publish } = mcpWorld();
    await publish(FILES);
    await publish({ ...FILES, 'MEMORY.md': '# Task Group: app\nuse npm\n', 'memory_summary.md': 'v1\n\nanew\n' });
    const at = async (name: string, given: object) => (await call(name, given)).text;
    expect(await at('memory_summary', { version: 1 })).toContain('likes tests');
    expect(await at('memory_summary', {})).not.toContain('likes tests');
    expect(JSON.parse(await at('memory_read', { path: 'MEMORY.md', version: 1 }))).toMatchObject({
      version: 1,
      content: FILES['MEMORY.md'],
    });
    expect(JSON.parse(await at('memory_search', { queries: ['pnpm'], version: 1 }))).toMatchObject({ matches: [{}] });
    expect(JSON.parse(await at('memory_search', { queries: ['pnpm'] }))).toMatchObject({ version: 2, matches: [] });
    expect(JSON.parse(await at('memory_list', { version: 0 }))).toMatchObject({ version: 0, entries: [] });
    expect(await call('memory_list', { version: 9 })).toMatchObject({ isError: true });
  });
});
