import * as z from 'zod';
import { NO_USAGE } from '../../../core/agent/token-usage.ts';
import { publishVersion } from '../../../core/consolidation/publish.ts';
import { toUserKey } from '../../../core/ids.ts';
import { DEFAULT_SETTINGS, type Settings } from '../../../core/settings.ts';
import { encodeUtf8 } from '../../../core/text.ts';
import { gatewayIdentity } from '../../../functions/http/identity.ts';
import { createMcpApp } from '../../../functions/mcp/app.ts';
import type { McpAppDeps } from '../../../functions/mcp/deps.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { MemoryHeadStore } from '../../doubles/memory-head-store.ts';
import { MemoryJobStore } from '../../doubles/memory-job-store.ts';
import { MemoryMemoryStore } from '../../doubles/memory-memory-store.ts';
import { MemoryReceiptStore } from '../../doubles/memory-receipt-store.ts';
import { MemoryStageOneStore } from '../../doubles/memory-stage-one-store.ts';
import { MemoryTemplateStore } from '../../doubles/memory-template-store.ts';
import { MemoryThreadStore } from '../../doubles/memory-thread-store.ts';
import { NumberedTokens } from '../../doubles/numbered-tokens.ts';
import { RecordingTelemetry } from '../../doubles/recording-telemetry.ts';
import { StageOneTable } from '../../doubles/stage-one-table.ts';
import { type ClientAsk, gatewayClient } from '../../support/gateway-client.ts';
import { NOW } from '../../support/sample-state.ts';

const TEMPLATE = `<!-- stillroom template: read_path, version: 7 -->
Below {{ base_path }}. Pending: {{ pending_notes }}
{{ summary }}
`;
const NOTES_TEMPLATE = '<!-- stillroom template: ad_hoc_instructions, version: 1 -->\nHow to read notes.\n';

const reply = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.number(), z.string(), z.null()]).optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
});
export type RpcReply = z.infer<typeof reply>;
const failure = reply.required({ error: true });

const toolResult = z.looseObject({
  isError: z.boolean().optional(),
  content: z.tuple([z.looseObject({ type: z.literal('text'), text: z.string() })]),
});

/** What clients of either generation of the protocol send along. */
const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
const LEGACY = '2025-11-25';
export const MODERN = '2026-07-28';

/** The MCP app on in-memory stores, behind events of API Gateway. */
export function mcpWorld(given: Partial<McpAppDeps> = {}) {
  const table = new StageOneTable();
  const settings = new Map<string, Settings>();
  const stores = {
    heads: new MemoryHeadStore(),
    memories: new MemoryMemoryStore(),
    stageOne: new MemoryStageOneStore(table),
    threads: new MemoryThreadStore(),
    jobs: new MemoryJobStore(table),
    receipts: new MemoryReceiptStore(),
    clock: new FixedClock(NOW),
    telemetry: new RecordingTelemetry(),
  };
  const app = createMcpApp({
    ...stores,
    settings: async (userKey) => settings.get(userKey) ?? DEFAULT_SETTINGS,
    templates: new MemoryTemplateStore({ read_path: TEMPLATE, ad_hoc_instructions: NOTES_TEMPLATE }),
    tokens: new NumberedTokens(),
    identify: gatewayIdentity({ mode: 'jwt', claim: 'sub' }),
    basePath: 'https://memory.example/v1/memory/files',
    ...given,
  });
  const client = gatewayClient(app, [
    ['POST', /^\/mcp$/, 200, reply],
    ['POST', /^\/mcp$/, 400, failure],
  ]);
  const ask = (request: ClientAsk) =>
    client.ask('/mcp', { method: 'POST', ...request, headers: { ...HEADERS, ...request.headers } });
  const rpc = async (method: string, params: object = {}, user = 'user-1'): Promise<RpcReply> => {
    const headers = { 'mcp-protocol-version': LEGACY };
    const body = { jsonrpc: '2.0', id: 1, method, params };
    return reply.parse((await ask({ body, headers, caller: client.as(user) })).json);
  };
  const call = async (name: string, args: unknown = {}, user = 'user-1') => {
    const { result, error } = await rpc('tools/call', { name, arguments: args }, user);
    if (error !== undefined) return { isError: true, text: `protocol error ${error.code}: ${error.message}` };
    const found = toolResult.parse(result);
    return { isError: found.isError ?? false, text: found.content[0].text };
  };
  return { ...stores, table, settings, ask, rpc, call, publish: publisher(stores) };
}

function publisher(stores: { heads: MemoryHeadStore; memories: MemoryMemoryStore }) {
  return async (files: Readonly<Record<string, string>>, user = 'user-1') => {
    const userKey = toUserKey(user);
    const head = await stores.heads.read(userKey);
    const result = await publishVersion(stores, {
      userKey,
      base: { manifest: await stores.memories.manifest(userKey, head.version), epoch: head.epoch },
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
    if (result.kind !== 'published') throw new Error(`publishing ended as ${result.kind}`);
    return result.version;
  };
}
