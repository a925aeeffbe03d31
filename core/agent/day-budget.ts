import type { DayUsage, Reservation } from '../ports/usage-ledger.ts';
import type { TokenUsage } from './token-usage.ts';

/** Tokens that count towards a budget: the total, or input and output where a provider names no total. */
export function budgetTokens(usage: TokenUsage): number {
  return Math.max(usage.totalTokens, usage.inputTokens + usage.outputTokens);
}

/**
 * Whether a call may begin (DV-21): what the day used, what calls in flight have reserved and this reservation must together
 * stay within the limit, to the token.
 * @returns with `over_budget` the tokens used and reserved so far
 */
export function checkDayBudget(
  day: Pick<DayUsage, 'usage' | 'reservedTokens'>,
  reservation: Pick<Reservation, 'tokens' | 'dailyLimit'>,
):
  | { readonly kind: 'reserved' }
  | { readonly kind: 'over_budget'; readonly usedTokens: number; readonly limit: number } {
  const usedTokens = budgetTokens(day.usage) + day.reservedTokens;
  return usedTokens + Math.max(0, reservation.tokens) > reservation.dailyLimit
    ? { kind: 'over_budget', usedTokens, limit: reservation.dailyLimit }
    : { kind: 'reserved' };
}
