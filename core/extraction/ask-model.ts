import { paidUsage } from '../agent/paid-usage.ts';
import { addUsage, NO_USAGE, type TokenUsage } from '../agent/token-usage.ts';
import { unreachable } from '../errors.ts';
import type { ModelClient, ModelReply, ModelRequest } from '../ports/model-client.ts';
import type { UsageLedger } from '../ports/usage-ledger.ts';
import { LIMITS } from '../settings.ts';
import { estimateTokens } from '../text.ts';
import { DAY_MS } from '../time.ts';
import { evidenceLimitNote } from './evidence-limit.ts';
import type { Insist } from './insist.ts';
import type { Outcome } from './outcome.ts';
import { parseStageOneReply, type StageOneTexts } from './stage-one-reply.ts';

/** How a claimed extraction ends, before anything is written. */
export type ExtractionEnd =
  | { readonly kind: 'done'; readonly outcome: Outcome; readonly texts: StageOneTexts | null }
  | {
      readonly kind: 'failed';
      readonly outcome: Outcome;
      /** As in `Failure`. */
      readonly retry: number | 'never';
      readonly spendsRetry: boolean;
    };

export interface AskPorts {
  readonly model: ModelClient;
  readonly ledger: UsageLedger;
  readonly now: () => number;
  /** Of this run. */
  readonly insist: Insist;
}

export interface Ask {
  readonly userKey: string;
  readonly threadId: string;
  /** Unique to this claim of this snapshot; call ids are made from it. */
  readonly runId: string;
  readonly model: string;
  readonly dailyTokenBudget: number;
  readonly maxOutputTokens: number;
  /** The request within the caps. `evidenceTokens` null: the evidence as read; else read again within that limit. */
  readonly build: (evidenceTokens: number | null, maxOutputTokens: number) => Promise<ModelRequest>;
  /** Estimated tokens of the evidence as read. */
  readonly evidenceTokens: number;
}

/**
 * Asks the model for one output. Each call is counted in the ledger before it is made. Two ends are tried once more in the
 * same run: an input that does not fit, with half the evidence (DV-14), and an answer cut by its cap, with twice the cap.
 * @returns how the extraction ends, and what the provider reported as used
 */
export async function askModel(ports: AskPorts, ask: Ask): Promise<{ end: ExtractionEnd; usage: TokenUsage | null }> {
  let usage: TokenUsage | null = null;
  let evidenceTokens: number | null = null;
  let maxOutputTokens = ask.maxOutputTokens;
  for (let call = 1; ; call++) {
    const request = await ask.build(evidenceTokens, maxOutputTokens);
    const reply = await makeCountedCall(ports, ask, { callId: `${ask.runId}:${call}`, request });
    if (reply.kind === 'over_budget') return { end: overBudget(ports.now(), reply.usedTokens, { ask, call }), usage };
    const reported = 'usage' in reply ? reply.usage : null;
    if (reported !== null) usage = addUsage(usage ?? NO_USAGE, reported);
    if (reply.kind === 'too_long' && evidenceTokens === null) {
      evidenceTokens = Math.max(1, Math.trunc(ask.evidenceTokens / 2));
    } else if (reply.kind === 'incomplete' && reply.reason === 'length' && maxOutputTokens === ask.maxOutputTokens) {
      maxOutputTokens *= 2;
    } else return { end: endOf(reply, { ask, evidenceTokens, maxOutputTokens }), usage };
  }
}

/**
 * Reserves, calls, settles. A call that was turned down costs nothing; one that fell silent may have been paid for, so its
 * reservation is kept as used.
 */
async function makeCountedCall(
  ports: AskPorts,
  ask: Ask,
  { callId, request }: { readonly callId: string; readonly request: ModelRequest },
): Promise<ModelReply | { readonly kind: 'over_budget'; readonly usedTokens: number }> {
  const texts = request.items.map((item) => (item.kind === 'message' ? item.text : ''));
  const input = [request.instructions, ...texts].reduce((sum, text) => sum + estimateTokens(text), 0);
  const reserved = await ports.ledger.reserve(ask.userKey, {
    callId,
    purpose: 'extraction',
    subject: ask.threadId,
    model: request.model,
    now: ports.now(),
    tokens: input + request.maxOutputTokens,
    dailyLimit: ask.dailyTokenBudget,
  });
  if (reserved.kind === 'over_budget') return reserved;
  const reply = await ports.model.respond(request);
  await ports.insist(() => ports.ledger.settle(ask.userKey, callId, paidUsage(reply)));
  return reply;
}

/** Resumed on the next day of the ledger (DV-21). Costs no retry, unless this run has already paid for a call. */
function overBudget(now: number, usedTokens: number, at: { readonly ask: Ask; readonly call: number }): ExtractionEnd {
  const detail = `${usedTokens} of ${at.ask.dailyTokenBudget} tokens of the day used`;
  return {
    kind: 'failed',
    outcome: { kind: 'deferred', reason: 'budget', detail },
    retry: DAY_MS - (now % DAY_MS),
    spendsRetry: at.call > 1,
  };
}

interface Tried {
  readonly ask: Ask;
  readonly evidenceTokens: number | null;
  readonly maxOutputTokens: number;
}

/**
 * One outcome for every way a call can end. The closed list of DV-22 has failures for a refusal and a filter, so they are
 * failures, never `no_output`: nobody should read them as "nothing worth keeping". Neither is tried again at this snapshot.
 */
function endOf(reply: ModelReply, tried: Tried): ExtractionEnd {
  const { model } = tried.ask;
  switch (reply.kind) {
    case 'reply':
      return endOfText(reply.text, tried);
    case 'refused':
      return failed('model_refused', 'the model declined', 'never');
    case 'incomplete':
      if (reply.reason === 'filter') return failed('filtered', 'stopped by a content filter of the provider', 'never');
      return failed('model_invalid', `cut at ${tried.maxOutputTokens} output tokens`, LIMITS.retryDelayMs);
    case 'too_long': {
      const next = Math.max(1, Math.trunc((tried.evidenceTokens ?? tried.ask.evidenceTokens) / 2));
      return failed(
        'too_large',
        `over the model's window; next ${evidenceLimitNote(next, model)}`,
        LIMITS.retryDelayMs,
      );
    }
    case 'rate_limited':
      return {
        kind: 'failed',
        outcome: { kind: 'deferred', reason: 'rate_limit' },
        retry: Math.min(DAY_MS, reply.retryAfterMs ?? LIMITS.rateLimitWaitMs),
        spendsRetry: false,
      };
    case 'unavailable':
      // A silence may have been paid for, and may be this session's own doing: it costs a retry, and the next comes late.
      if (paidUsage(reply) === null) return failed('model_unavailable', reply.code, LIMITS.silenceRetryMs);
      // Turned away without work: free and nobody's fault, so an outage of any length strands nothing.
      return { ...failed('model_unavailable', reply.code, LIMITS.retryDelayMs), spendsRetry: false };
    case 'misconfigured':
      // Due again at once: nothing is spent, and a person who has repaired the setting does not want to wait.
      return { ...failed('configuration', reply.code, 0), spendsRetry: false };
    default:
      return unreachable(reply);
  }
}

function endOfText(text: string, tried: Tried): ExtractionEnd {
  const parsed = parseStageOneReply(text);
  if (parsed.kind === 'invalid') return failed('model_invalid', parsed.detail, LIMITS.retryDelayMs);
  const { evidenceTokens: halved, ask } = tried;
  const detail = halved === null ? {} : { detail: evidenceLimitNote(halved, ask.model) };
  if (parsed.kind === 'no_output') return { kind: 'done', outcome: { kind: 'no_output', ...detail }, texts: null };
  return { kind: 'done', outcome: { kind: 'extracted', ...detail }, texts: parsed.texts };
}

type FailReason = Extract<Outcome, { kind: 'failed' }>['reason'];

function failed(
  reason: FailReason,
  detail: string,
  retry: number | 'never',
): Extract<ExtractionEnd, { kind: 'failed' }> {
  return { kind: 'failed', outcome: { kind: 'failed', reason, detail }, retry, spendsRetry: true };
}
