import { createServer } from 'node:http';
import * as z from 'zod';
import { sha256Hex } from '../../core/ids.ts';
import { groupText, SUMMARY_TEXT } from '../core/consolidation/memory-text.ts';
import { completedAnswer, responsesAnswer } from '../support/scripted-openai.ts';

const bodyShape = z.object({
  input: z.array(z.looseObject({ type: z.string().optional(), content: z.unknown().optional() })),
  tools: z.array(z.unknown()).optional(),
});

/** What each answer costs, as `scripted-openai` says. */
export const TOKENS_PER_ANSWER = 13;

const EXTRACTED = JSON.stringify({
  raw_memory: 'Start the database on port 5433 before the tests.',
  rollout_summary: '# Fixed the checkout test',
  rollout_slug: 'fix-checkout',
});

/** A model provider on loopback that answers by what it is asked, as often as it is asked, and counts what it was paid for. */
export interface Provider {
  /** With `/v1`. */
  readonly baseUrl: string;
  /** Answers given since the last `reset`, by what for: `extraction <thread>`, `turn <hash of the conversation>`. */
  readonly paid: ReadonlyMap<string, number>;
  /** @param threadIds whose rollouts it will be shown: each says its own id */
  reset(threadIds: readonly string[]): void;
  close(): Promise<void>;
}

export async function startProvider(): Promise<Provider> {
  const paid = new Map<string, number>();
  let known: readonly string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const { subject, answer } = answerTo(Buffer.concat(chunks).toString(), known);
    paid.set(subject, (paid.get(subject) ?? 0) + 1);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    baseUrl: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/v1`,
    paid,
    reset: (threadIds) => {
      known = threadIds;
      paid.clear();
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answerTo(text: string, threadIds: readonly string[]): { readonly subject: string; readonly answer: unknown } {
  const { input, tools } = bodyShape.parse(JSON.parse(text));
  if (tools === undefined) {
    const thread = threadIds.find((threadId) => text.includes(`session ${threadId}`));
    if (thread === undefined) throw new Error('the provider was shown a session that it does not know');
    return { subject: `extraction ${thread}`, answer: completedAnswer(EXTRACTED).json };
  }
  const turn = input.filter((item) => item.type === 'function_call_output').length;
  return {
    subject: `turn ${turn} ${sha256Hex(text).slice(0, 12)}`,
    answer: turnAnswer(turn, JSON.stringify(input[0])),
  };
}

/** Two files, then the end. What they must name is in the first message. */
function turnAnswer(turn: number, prompt: string): unknown {
  if (turn === 0) return callAnswer('write', { path: 'MEMORY.md', content: memoryFor(prompt) });
  if (turn === 1) return callAnswer('write', { path: 'memory_summary.md', content: summaryFor(prompt) });
  return callAnswer('finish', { report: 'done' });
}

function memoryFor(prompt: string): string {
  const inputs = inputsOf(prompt);
  return groupText({ threads: inputs, project: inputs[0]?.project ?? 'unknown' });
}

/** Its topic stands below the project of the group. */
function summaryFor(prompt: string): string {
  const [first] = inputsOf(prompt);
  return first === undefined ? SUMMARY_TEXT : SUMMARY_TEXT.replace('git.example.org/dev/shop', () => first.project);
}

function inputsOf(
  prompt: string,
): readonly { readonly stem: string; readonly threadId: string; readonly project: string }[] {
  const named = prompt.matchAll(/rollout_summaries\/([\w.-]+)\.md \(thread_id=([\w.-]+), project=([^)]+)\)/g);
  return [...named].map(([, stem = '', threadId = '', project = '']) => ({ stem, threadId, project }));
}

function callAnswer(name: string, args: unknown): unknown {
  const call = { type: 'function_call', id: 'fc_1', call_id: `call-${name}`, status: 'completed' };
  return responsesAnswer([{ ...call, name, arguments: JSON.stringify(args) }]).json;
}
