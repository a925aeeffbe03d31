import * as z from 'zod';
import { DefectError } from '../errors.ts';
import { insistWithin } from '../extraction/insist.ts';
import type { Clock } from '../ports/clock.ts';
import type { ModelClient, ModelReply, ModelRequest } from '../ports/model-client.ts';
import type { StepRunner } from '../ports/step-runner.ts';
import type { TokenSource } from '../ports/token-source.ts';
import type { UsageLedger } from '../ports/usage-ledger.ts';
import { LIMITS } from '../settings.ts';
import { estimateTokens } from '../text.ts';
import { estimateConversation } from './conversation.ts';
import { paidUsage } from './paid-usage.ts';
import { redactReply } from './redact-reply.ts';
import type { TokenUsage } from './token-usage.ts';

export interface ModelPorts {
  readonly model: ModelClient;
  readonly steps: StepRunner;
  readonly ledger: UsageLedger;
  readonly clock: Clock;
  /** For the ids of calls. */
  readonly tokens: TokenSource;
}

/** Whose calls these are and what pays for them. */
export interface ModelAccount {
  readonly userKey: string;
  readonly runId: string;
  /** Tokens of the user's day (DV-21). */
  readonly dailyTokenBudget: number;
}

const tokens = z.number();
/** Tokens as they are kept with an answer. */
export const tokenUsageShape = z.object({
  inputTokens: tokens,
  cachedInputTokens: tokens,
  cacheWriteInputTokens: tokens,
  outputTokens: tokens,
  reasoningOutputTokens: tokens,
  totalTokens: tokens,
});
const callShape = z.object({ callId: z.string(), name: z.string(), arguments: z.string() });
const itemShape = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('message'), role: z.enum(['user', 'assistant']), text: z.string() }),
  z.object({ kind: z.literal('tool_call'), ...callShape.shape }),
  z.object({ kind: z.literal('tool_result'), callId: z.string(), text: z.string() }),
  z.object({ kind: z.literal('opaque'), json: z.string() }),
]);
const rateLimitShape = z.object({ name: z.string(), remainingPercent: z.number(), resetsAt: z.number() });
/** Any answer of a step that asks the model. */
export const turnShape = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('reply'),
    text: z.string(),
    toolCalls: z.array(callShape),
    items: z.array(itemShape),
    usage: tokenUsageShape.nullable(),
    model: z.string(),
    rateLimits: z.array(rateLimitShape),
  }),
  z.object({ kind: z.literal('refused'), usage: tokenUsageShape.nullable() }),
  z.object({ kind: z.literal('incomplete'), reason: z.enum(['length', 'filter']), usage: tokenUsageShape.nullable() }),
  z.object({ kind: z.literal('too_long') }),
  z.object({ kind: z.literal('rate_limited'), retryAfterMs: z.number().nullable() }),
  z.object({ kind: z.literal('unavailable'), code: z.string() }),
  z.object({ kind: z.literal('misconfigured'), code: z.string() }),
  z.object({ kind: z.literal('over_budget'), usedTokens: z.number(), limit: z.number() }),
]);

/** How a turn's call ended: as the provider said, or refused by the ledger before it was made. */
export type TurnReply =
  | ModelReply
  | { readonly kind: 'over_budget'; readonly usedTokens: number; readonly limit: number };

export interface AskedTurn {
  readonly reply: TurnReply;
  /** Of all calls of the turn, those made by an earlier pass of the run included. */
  readonly usages: readonly TokenUsage[];
}

/**
 * Makes one turn's model call as a named step, reserved in the ledger before and settled after. A run that starts over gets
 * the stored reply and pays nothing. A stored failure is not replayed: the call is made again as `<name>-2`, `-3`, …. Every
 * call has a reservation of its own, also where a run of the same name made one like it before. An answer cut for length is
 * asked for once more with twice the room (user case B24).
 *
 * @param name the same on every pass of the run, such as `turn-001`
 * @param rule.finalFailures true: an answer that would be the same every time (too long for the model, or cut with twice the
 *   room) is replayed like a reply, since its caller takes another way then
 */
export async function askModel(
  ports: ModelPorts,
  account: ModelAccount,
  name: string,
  request: ModelRequest,
  rule: { readonly finalFailures: boolean } = { finalFailures: false },
): Promise<AskedTurn> {
  const usages: TokenUsage[] = [];
  let doubled = false;
  for (let attempt = 1; ; attempt++) {
    const step = attempt === 1 ? name : `${name}-${attempt}`;
    const sized: ModelRequest = doubled ? { ...request, maxOutputTokens: 2 * request.maxOutputTokens } : request;
    const call = paidOnce(() => callModel(ports, account, step, sized));
    const keep = (): Promise<TurnReply> => ports.steps.run(account.runId, step, turnShape, call.make);
    const reply: TurnReply = await keep().catch((error: unknown) => {
      if (!call.ended) throw error;
      return insistWithin(ports.clock)(keep); // paid for: one failure of the store must not throw it away
    });
    if ('usage' in reply && reply.usage !== null) usages.push(reply.usage);
    if (reply.kind === 'reply') return { reply, usages };
    const cutShort: boolean = reply.kind === 'incomplete' && reply.reason === 'length';
    if (rule.finalFailures && (reply.kind === 'too_long' || (cutShort && doubled))) return { reply, usages };
    if (call.made && !(cutShort && !doubled)) return { reply, usages };
    doubled ||= cutShort;
  }
}

/** A call that is made once, however often its step is begun. */
function paidOnce<T>(call: () => Promise<T>) {
  let answer: T | undefined;
  const once = {
    /** Whether this pass of the run made it, and did not find its answer kept. */
    made: false,
    /** Whether it was answered. */
    ended: false,
    make: async (): Promise<T> => {
      once.made = true;
      answer ??= await call();
      once.ended = true;
      return answer;
    },
  };
  return once;
}

/**
 * The call id ends in a fresh token, drawn where the call is made: the names of the run and of the step come again when a run
 * is begun anew, or when a step was cut off before its reply was kept, and then the provider is paid again.
 */
async function callModel(
  ports: ModelPorts,
  account: ModelAccount,
  step: string,
  request: ModelRequest,
): Promise<z.infer<typeof turnShape>> {
  const callId = `${account.runId}/${step}/${ports.tokens.next()}`;
  const reserved = await ports.ledger.reserve(account.userKey, {
    callId,
    purpose: 'consolidation',
    subject: account.runId,
    model: request.model,
    now: ports.clock.now(),
    tokens: estimateRequest(request),
    dailyLimit: account.dailyTokenBudget,
  });
  if (reserved.kind === 'over_budget') return reserved;
  const reply = await ports.model.respond(request);
  await insistWithin(ports.clock)(() => ports.ledger.settle(account.userKey, callId, paidUsage(reply)));
  const turn = turnShape.safeParse(redactReply(reply));
  if (turn.success) return turn.data;
  const field = turn.error.issues[0]?.path.join('.') ?? '';
  throw new DefectError('model.reply_unreadable', 'a model client answered what its port does not allow', {
    details: { field },
  });
}

/** Estimated tokens of a request with its largest answer. */
export function estimateRequest(request: ModelRequest): number {
  const tools = estimateTokens(JSON.stringify(request.tools ?? []));
  return estimateTokens(request.instructions) + tools + estimateConversation(request.items) + request.maxOutputTokens;
}

/** The timeout of one call: what is left until `deadline`, at most the limit; undefined when too little is left for a call. */
export function callTimeout(now: number, deadline: number | null): number | undefined {
  if (deadline === null) return LIMITS.agentCallTimeoutMs;
  return deadline - now >= LIMITS.agentCallTimeoutMs ? LIMITS.agentCallTimeoutMs : undefined;
}
