import { NO_USAGE, type TokenUsage } from '../../core/agent/token-usage.ts';
import type { ModelClient, ModelReply, ModelRequest } from '../../core/ports/model-client.ts';

/** One answer, or a function that looks at the request, may check it, and answers. */
export type ScriptEntry = ModelReply | ((request: ModelRequest) => ModelReply | Promise<ModelReply>);

/** A model that answers from a list, one entry a call, and refuses a call that the list does not expect. */
export class ScriptedModel implements ModelClient {
  /** Every request, in order. */
  readonly requests: ModelRequest[] = [];
  readonly #script: ScriptEntry[];

  constructor(script: readonly ScriptEntry[] = []) {
    this.#script = [...script];
  }

  /** Adds entries at the end. */
  expect(...entries: readonly ScriptEntry[]): void {
    this.#script.push(...entries);
  }

  async respond(request: ModelRequest): Promise<ModelReply> {
    this.requests.push(request);
    const entry = this.#script.shift();
    if (entry === undefined) {
      throw new Error(
        `unexpected model call ${this.requests.length}: ${request.purpose}, ${request.items.length} items`,
      );
    }
    return typeof entry === 'function' ? entry(request) : entry;
  }

  /** @throws Error when entries were not used */
  assertDone(): void {
    if (this.#script.length > 0) throw new Error(`${this.#script.length} scripted model replies were not asked for`);
  }
}

/** A plain reply with a text. */
export function textReply(text: string, usage: TokenUsage | null = NO_USAGE): ModelReply {
  return {
    kind: 'reply',
    text,
    toolCalls: [],
    items: [{ kind: 'message', role: 'assistant', text }],
    usage,
    model: 'scripted',
    rateLimits: [],
  };
}

/** A reply that calls tools; arguments are given as values. Call ids are `call-1`, `call-2`, … unless named. */
export function toolReply(
  calls: readonly { readonly name: string; readonly arguments: unknown; readonly callId?: string }[],
  usage: TokenUsage | null = NO_USAGE,
): ModelReply {
  const toolCalls = calls.map((call, at) => ({
    callId: call.callId ?? `call-${at + 1}`,
    name: call.name,
    arguments: JSON.stringify(call.arguments),
  }));
  return {
    kind: 'reply',
    text: '',
    toolCalls,
    items: toolCalls.map((call) => ({ kind: 'tool_call' as const, ...call })),
    usage,
    model: 'scripted',
    rateLimits: [],
  };
}
