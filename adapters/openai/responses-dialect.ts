import * as z from 'zod';
import type { TokenUsage } from '../../core/agent/token-usage.ts';
import type { ModelItem, ModelReply, ModelRequest } from '../../core/ports/model-client.ts';
import { type Dialect, promptCacheKey, type ReplyContext, type RequestOptions } from './dialect.ts';
import { replyForErrorCode } from './provider-failure.ts';
import { member, readUsage } from './read-usage.ts';

const answerShape = z.looseObject({
  status: z.string().nullish(),
  error: z.looseObject({ code: z.string().nullish() }).nullish(),
  incomplete_details: z.looseObject({ reason: z.string().nullish() }).nullish(),
  model: z.string().nullish(),
  output: z.array(z.looseObject({ type: z.string() })),
  usage: z.unknown().optional(),
});
const messageShape = z.looseObject({
  type: z.literal('message'),
  content: z.array(z.looseObject({ type: z.string(), text: z.string().nullish() })),
});
const callShape = z.looseObject({
  type: z.literal('function_call'),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
});
type Answer = z.infer<typeof answerShape>;

/** Families whose models reason and hand out encrypted reasoning; a chat variant does not. */
const REASONING_MODEL = /^(?:.*\/)?(?:o\d|gpt-(?:[5-9]|\d{2,})|codex-|gpt-oss)/;

/** True where a model is known by its name to reason. */
export function isReasoningModel(model: string): boolean {
  return REASONING_MODEL.test(model) && !/-chat(?:-|$)/.test(model);
}

/** The Responses API: stateless, the whole conversation with each call (api.md, "Model calls"). */
export const responsesDialect: Dialect = {
  path: '/responses',
  optional: ['reasoning', 'service_tier', 'prompt_cache_key'],
  toBody,
  readReply,
};

function toBody(request: ModelRequest, options: RequestOptions): Record<string, unknown> {
  const keeps = (part: 'reasoning' | 'service_tier' | 'prompt_cache_key'): boolean => !options.leftOut.has(part);
  const reasons = keeps('reasoning') && isReasoningModel(request.model);
  return {
    model: request.model,
    instructions: request.instructions.toWellFormed(),
    input: request.items.map(toInput),
    store: false,
    max_output_tokens: request.maxOutputTokens,
    ...(keeps('prompt_cache_key') ? { prompt_cache_key: promptCacheKey(request) } : {}),
    ...(keeps('service_tier') && options.serviceTier !== null ? { service_tier: options.serviceTier } : {}),
    ...(keeps('reasoning') ? { reasoning: { effort: request.reasoningEffort } } : {}),
    ...(reasons ? { include: ['reasoning.encrypted_content'] } : {}),
    ...(request.output === undefined
      ? {}
      : {
          text: {
            format: { type: 'json_schema', name: request.output.name, schema: request.output.schema, strict: true },
          },
        }),
    ...(request.tools === undefined
      ? {}
      : { tools: request.tools.map((tool) => ({ type: 'function', ...tool, strict: true })), tool_choice: 'auto' }),
  };
}

function toInput(item: ModelItem): unknown {
  switch (item.kind) {
    case 'message':
      return { type: 'message', role: item.role, content: item.text.toWellFormed() };
    case 'tool_call':
      return { type: 'function_call', call_id: item.callId, name: item.name, arguments: item.arguments };
    case 'tool_result':
      return { type: 'function_call_output', call_id: item.callId, output: item.text.toWellFormed() };
    case 'opaque':
      return JSON.parse(item.json);
  }
}

function readReply(answer: unknown, context: ReplyContext): ModelReply {
  const parsed = answerShape.safeParse(answer);
  if (!parsed.success) return { kind: 'unavailable', code: 'response_not_understood' };
  const { status, usage: reported } = parsed.data;
  const usage = toUsage(reported);
  if (status === 'incomplete') {
    const filtered = parsed.data.incomplete_details?.reason === 'content_filter';
    return { kind: 'incomplete', reason: filtered ? 'filter' : 'length', usage };
  }
  if (status === 'failed') return replyForErrorCode(parsed.data.error?.code ?? '');
  if (status !== 'completed' && status !== null && status !== undefined) {
    return { kind: 'unavailable', code: 'response_unfinished' };
  }
  return readOutput(parsed.data, usage, context);
}

function readOutput(answer: Answer, usage: TokenUsage | null, context: ReplyContext): ModelReply {
  const items: ModelItem[] = [];
  for (const output of answer.output) {
    if (output.type === 'reasoning') items.push({ kind: 'opaque', json: JSON.stringify(output) });
    const message = messageShape.safeParse(output).data;
    if (message?.content.some((part) => part.type === 'refusal')) return { kind: 'refused', usage };
    if (message) {
      const text = message.content.map((part) => (part.type === 'output_text' ? (part.text ?? '') : '')).join('');
      items.push({ kind: 'message', role: 'assistant', text });
    }
    const call = callShape.safeParse(output).data;
    if (call) items.push({ kind: 'tool_call', callId: call.call_id, name: call.name, arguments: call.arguments });
  }
  return {
    kind: 'reply',
    text: items.map((item) => (item.kind === 'message' ? item.text : '')).join(''),
    toolCalls: items.flatMap((item) => (item.kind === 'tool_call' ? [item] : [])).map(({ kind: _, ...call }) => call),
    items,
    usage,
    model: answer.model ?? context.requestedModel,
    rateLimits: context.rateLimits,
  };
}

function toUsage(usage: unknown): TokenUsage | null {
  const input = member(usage, 'input_tokens_details');
  return readUsage({
    input: member(usage, 'input_tokens'),
    cached: member(input, 'cached_tokens'),
    cacheWrite: member(input, 'cache_write_tokens'),
    output: member(usage, 'output_tokens'),
    reasoning: member(member(usage, 'output_tokens_details'), 'reasoning_tokens'),
    total: member(usage, 'total_tokens'),
  });
}
