import type { TokenUsage } from '../../../core/agent/token-usage.ts';
import type { ModelReply } from '../../../core/ports/model-client.ts';
import { textReply, toolReply } from '../../doubles/scripted-model.ts';

/** What a scripted turn reports as used. */
export const TURN_USAGE: TokenUsage = {
  inputTokens: 100,
  cachedInputTokens: 40,
  cacheWriteInputTokens: 0,
  outputTokens: 10,
  reasoningOutputTokens: 3,
  totalTokens: 110,
};

export interface ScriptedCall {
  readonly name: string;
  readonly arguments: unknown;
}

/** A turn that calls tools. */
export const calling = (...calls: readonly ScriptedCall[]): ModelReply => toolReply(calls, TURN_USAGE);

/** A turn of text alone. */
export const saying = (text: string): ModelReply => textReply(text, TURN_USAGE);

export const finishing = (report = 'done'): ModelReply => calling({ name: 'finish', arguments: { report } });

export const writing = (path: string, content: string): ModelReply =>
  calling({ name: 'write', arguments: { path, content } });

export const listing = (path: string): ModelReply =>
  calling({ name: 'list', arguments: { path, cursor: null, max_results: null } });

/** A turn whose one call has arguments that are text, not values. */
export function callingRaw(name: string, text: string): ModelReply {
  const call = { callId: 'call-1', name, arguments: text };
  return {
    kind: 'reply',
    text: '',
    toolCalls: [call],
    items: [{ kind: 'tool_call', ...call }],
    usage: TURN_USAGE,
    model: 'scripted',
    rateLimits: [],
  };
}
