import { AgentWorkspace } from '../../core/agent/agent-workspace.ts';
import { runToolCalls, type ToolCall } from '../../core/agent/tool-call.ts';
import { decodeUtf8, encodeUtf8 } from '../../core/text.ts';
import { nextCalls } from './consolidation-agent.ts';
import { readRunLists } from './run-lists.ts';
import type { NewCall, Turn } from './wire.ts';

/** More than the rules ever take for what fits one message. */
const MAX_ROUNDS = 40;
const OUTPUTS = /^(?:MEMORY\.md|memory_summary\.md|skills\/.+)$/;

interface OnceAnswer {
  readonly report: string;
  readonly edits: readonly Readonly<Record<string, string>>[];
}

/**
 * The one answer of the template `consolidation_once`: the rules of the agent work with its tools on the files of the message,
 * here, and what they changed is the answer. After a message about faults they work once more, where every session is shown that
 * they would write the files anew from.
 */
export async function answerOnce(turns: readonly Turn[]): Promise<OnceAnswer> {
  const messages = turns.flatMap((turn) => (turn.kind === 'message' && turn.role === 'user' ? [turn.text] : []));
  const [first = '', ...repairs] = messages;
  const { lists, files } = readMessage(first);
  const workspace = new AgentWorkspace(new Map([...files].map(([path, text]) => [path, encodeUtf8(text)])));
  const talk: Turn[] = [{ kind: 'message', role: 'user', text: lists }];
  let report = await work(talk, workspace);
  const { added, retained } = readRunLists(lists);
  const all = [...added, ...retained].every((input) => files.has(input.path));
  for (const text of all ? repairs : []) {
    talk.push({ kind: 'message', role: 'user', text });
    report = await work(talk, workspace);
  }
  const edits = [...workspace.files].flatMap(([path, content]) => {
    const text = decodeUtf8(content);
    return OUTPUTS.test(path) && text !== files.get(path) ? [{ tool: 'write', path, content: text }] : [];
  });
  return { report, edits };
}

/** Takes turns until the rules call `finish`. @returns its report */
async function work(talk: Turn[], workspace: AgentWorkspace): Promise<string> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const calls = nextCalls(talk).map((call, at) => toCall(call, `${talk.length}-${at}`));
    const results = await runToolCalls(calls, workspace);
    talk.push(...calls.map((call) => ({ kind: 'call', ...call }) as const));
    talk.push(...results.map(({ callId, text }) => ({ kind: 'result', callId, text }) as const));
    const report = results.find((result) => result.report !== undefined)?.report;
    if (report !== undefined) return report;
  }
  throw new Error('the rules came to no end');
}

function toCall(call: NewCall, callId: string): ToolCall {
  return { callId, name: call.name, arguments: JSON.stringify(call.arguments) };
}

/** The message before its files, and the files. Only lines with the fence that the message names count. */
function readMessage(message: string): { readonly lists: string; readonly files: ReadonlyMap<string, string> } {
  const fence = /`===== (evidence-[0-9a-f]{16}) file: <path> =====`/.exec(message)?.[1];
  const files = new Map<string, string>();
  if (fence === undefined) return { lists: message, files };
  const [lists = '', ...parts] = message.split(`\n===== ${fence} file: `);
  for (const part of parts) {
    const named = /^(.*) =====\n/.exec(part);
    const end = part.lastIndexOf(`\n===== ${fence} end =====`);
    if (named?.[1] !== undefined) files.set(named[1], part.slice(named[0].length, Math.max(named[0].length, end)));
  }
  return { lists, files };
}
