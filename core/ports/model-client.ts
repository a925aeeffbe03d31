import type { TokenUsage } from '../agent/token-usage.ts';

/** One element of a conversation with a model. The whole conversation travels with each call; nothing is stored there. */
export type ModelItem =
  | { readonly kind: 'message'; readonly role: 'user' | 'assistant'; readonly text: string }
  | { readonly kind: 'tool_call'; readonly callId: string; readonly name: string; readonly arguments: string }
  | { readonly kind: 'tool_result'; readonly callId: string; readonly text: string }
  /** A provider's own element (encrypted reasoning) that must be sent back as it came. JSON text; never stored with a memory. */
  | { readonly kind: 'opaque'; readonly json: string };

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, strict: every property required, no others. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  readonly purpose: 'extraction' | 'consolidation';
  readonly model: string;
  /** The stable prefix, first, so that the provider's prompt cache hits. */
  readonly instructions: string;
  readonly items: readonly ModelItem[];
  /** Structured output, strict. */
  readonly output?: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> };
  readonly tools?: readonly ToolDefinition[];
  readonly reasoningEffort: 'low' | 'medium' | 'high';
  readonly maxOutputTokens: number;
  readonly timeoutMs: number;
}

/** Rate-limit windows of the provider as the last call's headers told them. */
export interface RateLimit {
  readonly name: string;
  readonly remainingPercent: number;
  /** ms since the epoch. */
  readonly resetsAt: number;
}

/** Every way a call can end, as a value: each has its own outcome. */
export type ModelReply =
  | {
      readonly kind: 'reply';
      readonly text: string;
      readonly toolCalls: readonly { readonly callId: string; readonly name: string; readonly arguments: string }[];
      /** What to append to the conversation before the tool results. */
      readonly items: readonly ModelItem[];
      readonly usage: TokenUsage | null;
      readonly model: string;
      readonly rateLimits: readonly RateLimit[];
    }
  | { readonly kind: 'refused'; readonly usage: TokenUsage | null }
  | { readonly kind: 'incomplete'; readonly reason: 'length' | 'filter'; readonly usage: TokenUsage | null }
  /** The input does not fit the model's window. */
  | { readonly kind: 'too_long' }
  | { readonly kind: 'rate_limited'; readonly retryAfterMs: number | null }
  /** Timeout, network, 5xx. `code` is content-free. */
  | { readonly kind: 'unavailable'; readonly code: string }
  /** No key, no such model, bad base URL: a person must act. `code` is content-free. */
  | { readonly kind: 'misconfigured'; readonly code: string };

/** A model. Retries nothing: the retry owner is the job (architecture.md, "Errors"). Never throws for what a provider may answer. */
export interface ModelClient {
  respond(request: ModelRequest): Promise<ModelReply>;
}
