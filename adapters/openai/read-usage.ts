import * as z from 'zod';
import { addTokens, type TokenUsage } from '../../core/agent/token-usage.ts';

/** What both dialects tell of a call's tokens, under the names of neither. Undefined and null: not told. */
export interface ToldUsage {
  readonly input?: unknown;
  readonly cached?: unknown;
  readonly cacheWrite?: unknown;
  readonly output?: unknown;
  readonly reasoning?: unknown;
  readonly total?: unknown;
}

/** Whole, 0 to 2^53-1: what a ledger can add up. */
const tokensShape = z.int().min(0).nullish();
const toldShape = z.object({
  input: tokensShape,
  cached: tokensShape,
  cacheWrite: tokensShape,
  output: tokensShape,
  reasoning: tokensShape,
  total: tokensShape,
});

/**
 * Reads what a provider says a call used. A total below input and output is not believed: their sum counts. What is missing of
 * input and output is taken from the total.
 * @returns null when it does not tell how much was used: no numbers, numbers that cannot be, or only zeros, since no call is
 *   free. The ledger then counts the whole reservation.
 */
export function readUsage(told: ToldUsage): TokenUsage | null {
  const parsed = toldShape.safeParse(told);
  if (!parsed.success) return null;
  const { cached, cacheWrite, reasoning } = parsed.data;
  const total = parsed.data.total ?? null;
  const input = parsed.data.input ?? restOf(total, parsed.data.output ?? 0);
  const output = parsed.data.output ?? restOf(total, input ?? 0);
  if (input === null || output === null) return null;
  const totalTokens = Math.max(total ?? 0, addTokens(input, output));
  if (totalTokens === 0) return null;
  return {
    inputTokens: input,
    cachedInputTokens: cached ?? 0,
    cacheWriteInputTokens: cacheWrite ?? 0,
    outputTokens: output,
    reasoningOutputTokens: reasoning ?? 0,
    totalTokens,
  };
}

function restOf(total: number | null, part: number): number | null {
  return total === null ? null : Math.max(0, total - part);
}

/** A member of what may be an object; undefined where there is none. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
