import { type CallToolResult, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { DefectError, type StillroomError } from '../../core/errors.ts';
import { readSummary } from '../../core/memory/read-summary.ts';
import { asStillroomError } from '../http/problem.ts';
import type { MemoryToolDeps } from './deps.ts';
import { parseSummaryArguments } from './tool-arguments.ts';
import { MEMORY_TOOLS, showSummary } from './tools.ts';

const SERVER = { name: 'stillroom', title: 'Stillroom memory', version: '0.1.0' };
const SUMMARY_URI = 'memory://summary';
const PROMPT = 'memory';

/** What a client may show its model when it connects. */
const INSTRUCTIONS =
  "Long-term memory of the person's earlier sessions. Call memory_summary with the working directory first; look deeper with memory_search and memory_read; call memory_cite with what an answer used.";

/**
 * An MCP server over one user's memory. Mistakes of the caller are tool results with `isError`, so that a model sees and mends
 * them; a fault of ours is a protocol error without detail, and a log line without content.
 */
export function createMemoryServer(deps: MemoryToolDeps, userKey: string): Server {
  const server = new Server(SERVER, {
    capabilities: { tools: {}, resources: {}, prompts: {} },
    instructions: INSTRUCTIONS,
  });
  server.setRequestHandler('tools/list', () => ({ tools: MEMORY_TOOLS.map(({ definition }) => definition) }));
  server.setRequestHandler('tools/call', ({ params }) => callTool(deps, userKey, params));
  server.setRequestHandler('resources/list', () => ({ resources: [RESOURCE] }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', ({ params }) => readResource(deps, userKey, params.uri));
  server.setRequestHandler('prompts/list', () => ({ prompts: [PROMPT_DEFINITION] }));
  server.setRequestHandler('prompts/get', ({ params }) => getPrompt(deps, userKey, params));
  return server;
}

const RESOURCE = {
  uri: SUMMARY_URI,
  name: 'summary',
  title: 'Memory summary',
  description: 'The map of what is remembered, all projects.',
  mimeType: 'text/markdown',
};

const PROMPT_DEFINITION = {
  name: PROMPT,
  title: 'Memory',
  description: 'How to use the memory, with its summary inside.',
  arguments: [
    { name: 'cwd', description: 'Working directory: shows its project only, besides what holds everywhere.' },
    { name: 'repository', description: 'Git remote, in place of the directory.' },
  ],
};

interface NamedCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

async function callTool(deps: MemoryToolDeps, userKey: string, call: NamedCall): Promise<CallToolResult> {
  const tool = MEMORY_TOOLS.find(({ definition }) => definition.name === call.name);
  if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'there is no such tool');
  try {
    const answer = await tool.call(deps, userKey, call.arguments ?? {});
    return { content: [{ type: 'text', text: typeof answer === 'string' ? answer : JSON.stringify(answer) }] };
  } catch (thrown) {
    const error = asStillroomError(thrown);
    if (error instanceof DefectError) throw hideDefect(deps, error, tool.definition.name);
    return { isError: true, content: [{ type: 'text', text: `${error.message} (${error.code})` }] };
  }
}

async function readResource(deps: MemoryToolDeps, userKey: string, uri: string) {
  if (uri !== SUMMARY_URI) throw new ProtocolError(ProtocolErrorCode.ResourceNotFound, 'there is no such resource');
  const answer = await orProtocolError(deps, 'resources/read', async () => {
    const { useMemories } = await deps.settings(userKey);
    return readSummary(deps, userKey, { scope: 'all', useMemories });
  });
  const text = answer.enabled ? answer.summary : '';
  return { contents: [{ uri: SUMMARY_URI, mimeType: 'text/markdown', text }] };
}

async function getPrompt(deps: MemoryToolDeps, userKey: string, call: NamedCall) {
  if (call.name !== PROMPT) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'there is no such prompt');
  const text = await orProtocolError(deps, 'prompts/get', async () =>
    showSummary(deps, userKey, parseSummaryArguments(call.arguments ?? {})),
  );
  return {
    description: PROMPT_DEFINITION.description,
    messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
  };
}

/** Where the protocol has no place for a caller's mistake but an error. */
async function orProtocolError<T>(deps: MemoryToolDeps, method: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const error = asStillroomError(thrown);
    if (error instanceof DefectError) throw hideDefect(deps, error, method);
    const code = error.kind === 'unavailable' ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
    throw new ProtocolError(code, `${error.message} (${error.code})`);
  }
}

function hideDefect(deps: MemoryToolDeps, error: StillroomError, method: string): ProtocolError {
  const cause = error.cause instanceof Error ? error.cause.name : null;
  deps.telemetry.event('error', 'mcp.failure', { method, code: error.code, cause });
  return new ProtocolError(ProtocolErrorCode.InternalError, 'The request failed for a reason on our side.');
}
