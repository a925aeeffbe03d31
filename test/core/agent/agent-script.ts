import type { TokenUsage } from '../../../core/agent/token-usage.ts';
import type { ModelClient, ModelReply, ModelRequest } from '../../../core/ports/model-client.ts';
import type { StepRunner } from '../../../core/ports/step-runner.ts';
import type { Reservation, UsageLedger } from '../../../core/ports/usage-ledger.ts';

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
  readonly arguments: string | Record<string, unknown>;
}

/** A reply that calls tools. */
export function calling(...calls: readonly ScriptedCall[]): ModelReply {
  return replying('', calls);
}

/** A reply with text, and tool calls if given. */
export function replying(text: string, calls: readonly ScriptedCall[] = []): ModelReply {
  const toolCalls = calls.map((call, at) => ({
    callId: `call-${at}`,
    name: call.name,
    arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
  }));
  return {
    kind: 'reply',
    text,
    toolCalls,
    items: [
      ...(text === '' ? [] : [{ kind: 'message', role: 'assistant', text } as const]),
      ...toolCalls.map((call) => ({ kind: 'tool_call', ...call }) as const),
    ],
    usage: TURN_USAGE,
    model: 'scripted',
    rateLimits: [],
  };
}

export const finishing = (report = 'done'): ModelReply => calling({ name: 'finish', arguments: { report } });

export const writing = (path: string, content: string): ModelReply =>
  calling({ name: 'write', arguments: { path, content } });

export type ScriptLine = ModelReply | ((request: ModelRequest) => ModelReply | Promise<ModelReply>);

/** Answers call after call from a script; a call beyond its end, or a line that is never used, is an error. */
export class ScriptedModel implements ModelClient {
  readonly requests: ModelRequest[] = [];
  readonly #script: ScriptLine[];

  constructor(script: readonly ScriptLine[]) {
    this.#script = [...script];
  }

  async respond(request: ModelRequest): Promise<ModelReply> {
    this.requests.push(request);
    const line = this.#script.shift();
    if (line === undefined) throw new Error(`model call ${this.requests.length} is not in the script`);
    return typeof line === 'function' ? line(request) : line;
  }

  /** @throws Error when lines are left over */
  assertUsedUp(): void {
    if (this.#script.length > 0) throw new Error(`${this.#script.length} lines of the script were not used`);
  }
}

/** Keeps the answers of steps that ended, as JSON, as a checkpoint would. */
export class KeptSteps implements StepRunner {
  readonly answers = new Map<string, string>();
  readonly finished: string[] = [];

  async run<T>(runId: string, name: string, shape: { parse(value: unknown): T }, work: () => Promise<T>): Promise<T> {
    const key = `${runId}/${name}`;
    const kept = this.answers.get(key);
    if (kept !== undefined) return shape.parse(JSON.parse(kept));
    const answer = await work();
    this.answers.set(key, JSON.stringify(answer));
    return answer;
  }

  async finish(runId: string): Promise<void> {
    this.finished.push(runId);
    for (const key of this.answers.keys()) if (key.startsWith(`${runId}/`)) this.answers.delete(key);
  }
}

/** Books every reservation and settlement; refuses from `refuseFrom` reservations on. */
export class BookedLedger implements UsageLedger {
  readonly reservations: Reservation[] = [];
  readonly settled = new Map<string, TokenUsage | null>();
  refuseFrom = Number.POSITIVE_INFINITY;

  async reserve(_userKey: string, reservation: Reservation) {
    if (this.reservations.length >= this.refuseFrom)
      return { kind: 'over_budget', usedTokens: 7, limit: reservation.dailyLimit } as const;
    if (!this.reservations.some((known) => known.callId === reservation.callId)) this.reservations.push(reservation);
    return { kind: 'reserved' } as const;
  }

  async settle(_userKey: string, callId: string, usage: TokenUsage | null): Promise<void> {
    if (!this.reservations.some((known) => known.callId === callId)) throw new Error(`${callId} was not reserved`);
    if (!this.settled.has(callId)) this.settled.set(callId, usage);
  }

  async day(): Promise<never> {
    throw new Error('the agent does not read days');
  }
}
