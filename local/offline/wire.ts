import { createHash } from 'node:crypto';
import * as z from 'zod';
import { estimateTokens } from '../../core/text.ts';

/** The name that the stand-in answers under; it stands in outputs, manifests and the ledger. */
export const OFFLINE_MODEL = 'offline-rules-1';

const partShape = z.looseObject({ type: z.string(), text: z.string().optional() });
const contentShape = z.union([z.string(), z.array(partShape)]);
const inputItemShape = z.union([
  z.looseObject({ type: z.literal('message').optional(), role: z.string(), content: contentShape }),
  z.looseObject({ type: z.literal('function_call'), call_id: z.string(), name: z.string(), arguments: z.string() }),
  z.looseObject({ type: z.literal('function_call_output'), call_id: z.string(), output: contentShape }),
  z.looseObject({ type: z.literal('reasoning') }),
]);
const requestShape = z.looseObject({
  model: z.string(),
  instructions: z.string().nullish(),
  input: z.union([z.string(), z.array(inputItemShape)]),
  stream: z.literal(false).nullish(),
  text: z.looseObject({ format: z.looseObject({ type: z.string(), name: z.string().optional() }).nullish() }).nullish(),
  tools: z.array(z.looseObject({ type: z.string(), name: z.string().optional() })).nullish(),
});

/** One element of the conversation that a request carries. */
export type Turn =
  | { readonly kind: 'message'; readonly role: string; readonly text: string }
  | { readonly kind: 'call'; readonly callId: string; readonly name: string; readonly arguments: string }
  | { readonly kind: 'result'; readonly callId: string; readonly text: string };

export interface OfflineRequest {
  readonly turns: readonly Turn[];
  /** Name of the wanted JSON schema; null when plain text is wanted. */
  readonly schemaName: string | null;
  readonly toolNames: readonly string[];
}

export interface NewCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What the rules answer: a text, or tool calls. */
export type Answer =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'calls'; readonly calls: readonly NewCall[] };

/** Reads the body of a Responses request. @returns the message of the first fault when it is none */
export function readRequest(body: unknown): OfflineRequest | { readonly fault: string } {
  const parsed = requestShape.safeParse(body);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return { fault: `invalid request at '${issue?.path.join('.') ?? ''}': ${issue?.message ?? ''}` };
  }
  const { input, text, tools } = parsed.data;
  const format = text?.format;
  return {
    turns: typeof input === 'string' ? [{ kind: 'message', role: 'user', text: input }] : input.flatMap(toTurn),
    schemaName: format?.type === 'json_schema' ? (format.name ?? '') : null,
    toolNames: (tools ?? []).flatMap((tool) => (tool.name === undefined ? [] : [tool.name])),
  };
}

function toTurn(item: z.infer<typeof inputItemShape>): Turn[] {
  if ('role' in item) return [{ kind: 'message', role: String(item.role), text: toText(item.content) }];
  if (item.type === 'function_call')
    return [{ kind: 'call', callId: String(item.call_id), name: String(item.name), arguments: String(item.arguments) }];
  if (item.type === 'function_call_output')
    return [{ kind: 'result', callId: String(item.call_id), text: toText(item.output) }];
  return [];
}

function toText(content: unknown): string {
  const parsed = contentShape.safeParse(content);
  if (!parsed.success) return '';
  return typeof parsed.data === 'string' ? parsed.data : parsed.data.map((part) => part.text ?? '').join('');
}

/** A Responses object. Its ids derive from the request, so that the same request gives the same bytes. */
export function responseObject(requestBody: string, answer: Answer): Record<string, unknown> {
  const digest = createHash('sha256').update(requestBody).digest('hex');
  const output =
    answer.kind === 'text'
      ? [
          {
            type: 'message',
            id: `msg_${digest.slice(0, 40)}`,
            status: 'completed',
            role: 'assistant',
            content: [{ type: 'output_text', text: answer.text, annotations: [] }],
          },
        ]
      : answer.calls.map((call, at) => ({
          type: 'function_call',
          id: `fc_${digest.slice(0, 36)}${String(at).padStart(4, '0')}`,
          call_id: `call_${digest.slice(0, 20)}${String(at).padStart(4, '0')}`,
          name: call.name,
          arguments: JSON.stringify(call.arguments),
          status: 'completed',
        }));
  return {
    id: `resp_${digest.slice(0, 40)}`,
    object: 'response',
    created_at: 0,
    status: 'completed',
    error: null,
    incomplete_details: null,
    model: OFFLINE_MODEL,
    output,
    parallel_tool_calls: true,
    store: false,
    usage: usageOf(requestBody, answer),
  };
}

/** Estimated at 4 bytes a token, as everywhere. */
function usageOf(requestBody: string, answer: Answer): Record<string, unknown> {
  const input = estimateTokens(requestBody);
  const output = estimateTokens(answer.kind === 'text' ? answer.text : JSON.stringify(answer.calls));
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}

/** The error shape of the API. */
export function errorObject(message: string, code: string): Record<string, unknown> {
  return { error: { message, type: 'invalid_request_error', param: null, code } };
}
