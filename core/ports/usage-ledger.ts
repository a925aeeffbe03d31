import type { TokenUsage } from '../agent/token-usage.ts';

export type CallPurpose = 'extraction' | 'consolidation';

export interface Reservation {
  /**
   * Unique to one call; the same id twice is one reservation until it is settled. After that a store may have forgotten it, and
   * count it anew, or know it and count nothing. So a call that is made again, for whatever reason, must come with a new id.
   */
  readonly callId: string;
  readonly purpose: CallPurpose;
  /** What the call is for: a thread id, or a run id. */
  readonly subject: string;
  readonly model: string;
  readonly now: number;
  /** Estimated tokens of input and largest output. */
  readonly tokens: number;
  /** The user's budget for the day, tokens. */
  readonly dailyLimit: number;
}

export interface DayUsage {
  readonly day: string;
  readonly calls: number;
  readonly usage: TokenUsage;
  /** Tokens of calls begun and not settled. */
  readonly reservedTokens: number;
}

/** Counts every model call before it is made. */
export interface UsageLedger {
  /** Reserves tokens on the day of `now` (UTC), or refuses: used + reserved + these must not exceed the limit. */
  reserve(
    userKey: string,
    reservation: Reservation,
  ): Promise<
    | { readonly kind: 'reserved' }
    | { readonly kind: 'over_budget'; readonly usedTokens: number; readonly limit: number }
  >;

  /**
   * Ends a reservation with what was really used; null when the provider told nothing: the reserved amount is then counted
   * as input. Settling twice changes nothing.
   */
  settle(userKey: string, callId: string, usage: TokenUsage | null): Promise<void>;

  /** A day without calls reads as zeros. */
  day(userKey: string, day: string): Promise<DayUsage>;
}
