import { InvalidInputError, NotFoundError } from '../errors.ts';
import { LIMITS } from '../settings.ts';
import { truncateTokens } from '../text.ts';
import { AGENT_TOOLS, type PreparedCall } from './agent-tools.ts';
import type { AgentWorkspace } from './agent-workspace.ts';

/** A tool call as the model wrote it. */
export interface ToolCall {
  readonly callId: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

export interface ToolResult {
  readonly callId: string;
  /** JSON text for the model. */
  readonly text: string;
  readonly failed: boolean;
  /** Set when the call ended the run. */
  readonly report?: string;
}

/**
 * Runs the tool calls of one turn in order: each is prepared (name and arguments), executed and finalised. A mistake of the
 * model comes back to it as an error result and costs nothing else; a fault of ours is thrown. Calls after a `finish`, and
 * more than 32 in one turn, are refused.
 */
export async function runToolCalls(
  calls: readonly ToolCall[],
  workspace: AgentWorkspace,
): Promise<readonly ToolResult[]> {
  const results: ToolResult[] = [];
  let finished = false;
  for (const [at, call] of calls.entries()) {
    const result: ToolResult = finished
      ? errorResult(call, 'tool.after_finish', 'finish ended the run; nothing after it was done')
      : at >= LIMITS.agentCallsPerTurn
        ? errorResult(
            call,
            'tool.too_many_calls',
            `at most ${LIMITS.agentCallsPerTurn} calls in a turn; repeat this one`,
          )
        : await runToolCall(call, workspace);
    finished ||= result.report !== undefined;
    results.push(result);
  }
  return results;
}

async function runToolCall(call: ToolCall, workspace: AgentWorkspace): Promise<ToolResult> {
  const prepared = prepareCall(call);
  if (prepared.kind === 'unknown') {
    const names = [...AGENT_TOOLS.keys()].join(', ');
    return errorResult(call, 'tool.unknown', `there is no such tool; the tools are ${names}`);
  }
  if (prepared.kind === 'invalid') return errorResult(call, 'tool.invalid_arguments', prepared.message);
  try {
    const { answer, report } = await prepared.execute(workspace);
    const text = truncateTokens(JSON.stringify(answer), 2 * LIMITS.readToolTokens);
    return { callId: call.callId, text, failed: false, ...(report === undefined ? {} : { report }) };
  } catch (error) {
    if (error instanceof InvalidInputError || error instanceof NotFoundError)
      return errorResult(call, error.code, error.message);
    throw error;
  }
}

function prepareCall(call: ToolCall): PreparedCall | { readonly kind: 'unknown' } {
  const tool = AGENT_TOOLS.get(call.name);
  if (tool === undefined) return { kind: 'unknown' };
  let raw: unknown;
  try {
    raw = JSON.parse(call.arguments);
  } catch {
    return { kind: 'invalid', message: 'the arguments are not JSON' };
  }
  return tool.prepare(raw);
}

function errorResult(call: ToolCall, code: string, message: string): ToolResult {
  return { callId: call.callId, text: JSON.stringify({ error: { code, message } }), failed: true };
}
