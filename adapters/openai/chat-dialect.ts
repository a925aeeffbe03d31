import * as z from 'zod';
import type { TokenUsage } from '../../core/agent/token-usage.ts';
import type { ModelItem, ModelReply, ModelRequest } from '../../core/ports/model-client.ts';
import { type Dialect, promptCacheKey, type ReplyContext, type RequestOptions } from './dialect.ts';
import { member, readUsage } from './read-usage.ts';

const callShape = z.looseObject({
  id: z.string(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});
const choiceShape = z.looseObject({
  finish_reason: z.string().nullish(),
  message: z.looseObject({
    content: z.string().nullish(),
    refusal: z.string().nullish(),
    tool_calls: z.array(callShape).nullish(),
  }),
});
const answerShape = z.looseObject({
  model: z.string().nullish(),
  choices: z.tuple([choiceShape], choiceShape),
  usage: z.unknown().optional(),
});

interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly unknown[];
}

/** Some local models print their reasoning into the text; it is never kept (user case B24). */
const LEADING_THOUGHT = /^\s*<think>[\s\S]*?<\/think>\s*/;

/** Chat Completions, for compatible servers that have no Responses API. Provider-specific items have no place in it. */
export const chatDialect: Dialect = {
  path: '/chat/completions',
  optional: ['reasoning', 'service_tier', 'prompt_cache_key', 'store', 'max_completion_tokens'],
  toBody,
  readReply,
};

function toBody(request: ModelRequest, options: RequestOptions): Record<string, unknown> {
  const leftOut = options.leftOut;
  const capKey = leftOut.has('max_completion_tokens') ? 'max_tokens' : 'max_completion_tokens';
  return {
    model: request.model,
    messages: [{ role: 'system', content: request.instructions.toWellFormed() }, ...toMessages(request.items)],
    [capKey]: request.maxOutputTokens,
    ...(leftOut.has('store') ? {} : { store: false }),
    ...(leftOut.has('prompt_cache_key') ? {} : { prompt_cache_key: promptCacheKey(request) }),
    ...(leftOut.has('service_tier') || options.serviceTier === null ? {} : { service_tier: options.serviceTier }),
    ...(leftOut.has('reasoning') ? {} : { reasoning_effort: request.reasoningEffort }),
    ...(request.output === undefined
      ? {}
      : {
          response_format: {
            type: 'json_schema',
            json_schema: { name: request.output.name, schema: request.output.schema, strict: true },
          },
        }),
    ...(request.tools === undefined
      ? {}
      : { tools: request.tools.map((tool) => ({ type: 'function', function: { ...tool, strict: true } })) }),
  };
}

/** Tool calls of one turn, and the text before them, are one assistant message here. */
function toMessages(items: readonly ModelItem[]): ChatMessage[] {
  const messages: ChatMessage[] = [];
  for (const item of items) {
    if (item.kind === 'message') messages.push({ role: item.role, content: item.text.toWellFormed() });
    if (item.kind === 'tool_result') {
      messages.push({ role: 'tool', tool_call_id: item.callId, content: item.text.toWellFormed() });
    }
    if (item.kind !== 'tool_call') continue;
    const call = { id: item.callId, type: 'function', function: { name: item.name, arguments: item.arguments } };
    const last = messages.at(-1);
    if (last?.role === 'assistant') messages.splice(-1, 1, { ...last, tool_calls: [...(last.tool_calls ?? []), call] });
    else messages.push({ role: 'assistant', content: null, tool_calls: [call] });
  }
  return messages;
}

function readReply(answer: unknown, context: ReplyContext): ModelReply {
  const parsed = answerShape.safeParse(answer);
  if (!parsed.success) return { kind: 'unavailable', code: 'response_not_understood' };
  const [{ finish_reason: reason, message }] = parsed.data.choices;
  const usage = toUsage(parsed.data.usage);
  if (message.refusal) return { kind: 'refused', usage };
  if (reason === 'length') return { kind: 'incomplete', reason: 'length', usage };
  if (reason === 'content_filter') return { kind: 'incomplete', reason: 'filter', usage };
  const text = (message.content ?? '').replace(LEADING_THOUGHT, '');
  const toolCalls = (message.tool_calls ?? []).map((call) => ({
    callId: call.id,
    name: call.function.name,
    arguments: call.function.arguments,
  }));
  return {
    kind: 'reply',
    text,
    toolCalls,
    items: [
      ...(text === '' ? [] : [{ kind: 'message' as const, role: 'assistant' as const, text }]),
      ...toolCalls.map((call) => ({ kind: 'tool_call' as const, ...call })),
    ],
    usage,
    model: parsed.data.model ?? context.requestedModel,
    rateLimits: context.rateLimits,
  };
}

function toUsage(usage: unknown): TokenUsage | null {
  const input = member(usage, 'prompt_tokens_details');
  return readUsage({
    input: member(usage, 'prompt_tokens'),
    cached: member(input, 'cached_tokens'),
    cacheWrite: member(input, 'cache_write_tokens'),
    output: member(usage, 'completion_tokens'),
    reasoning: member(member(usage, 'completion_tokens_details'), 'reasoning_tokens'),
    total: member(usage, 'total_tokens'),
  });
}
