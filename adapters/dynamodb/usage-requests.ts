import * as z from 'zod/mini';
import { budgetTokens } from '../../core/agent/day-budget.ts';
import type { TokenUsage } from '../../core/agent/token-usage.ts';
import { sha256Hex } from '../../core/ids.ts';
import type { DayUsage, Reservation } from '../../core/ports/usage-ledger.ts';
import { DAY_MS, SECOND_MS, toDay } from '../../core/time.ts';
import type { StoredItem, UpdateRequest } from './dynamo-table.ts';
import { aliases, parseItem } from './item-shape.ts';
import { itemKey } from './requests.ts';
import { SORT_KEYS, TTL_ATTRIBUTE } from './table.ts';

/** storage.md: a day of the ledger is kept this long. */
const KEEP_MS = 90 * DAY_MS;
const OPEN_PREFIX = 'open#';

/** Counters of a day by attribute, and where a usage has them. */
const COUNTERS = {
  input_tokens: 'inputTokens',
  cached_input_tokens: 'cachedInputTokens',
  cache_write_input_tokens: 'cacheWriteInputTokens',
  output_tokens: 'outputTokens',
  reasoning_output_tokens: 'reasoningOutputTokens',
  total_tokens: 'totalTokens',
} as const satisfies Record<string, keyof TokenUsage>;

const COUNT = z.optional(z.int());
const ITEM = z.object({
  committed: COUNT,
  calls: COUNT,
  input_tokens: COUNT,
  cached_input_tokens: COUNT,
  cache_write_input_tokens: COUNT,
  output_tokens: COUNT,
  reasoning_output_tokens: COUNT,
  total_tokens: COUNT,
  [TTL_ATTRIBUTE]: COUNT,
});
const OPEN = z.object({ tokens: z.int(), started_at: z.int() });

/** A day as it is stored. */
export interface StoredDay {
  /** Tokens used, as they count towards the budget, and reserved. */
  readonly committed: number;
  readonly calls: number;
  readonly usage: TokenUsage;
  /** Reserved tokens of each unsettled call, by the name of its attribute. */
  readonly open: ReadonlyMap<string, number>;
  /** ms since the epoch; from then on the day counts as absent. */
  readonly expiresAt: number;
}

/** The attribute of an unsettled call. Each has one of its own in the day's item, so that a first call needs no map to be made. */
export function openAttribute(callId: string): string {
  return `${OPEN_PREFIX}${sha256Hex(callId).slice(0, 32)}`;
}

export function reservedTokens(reservation: Pick<Reservation, 'tokens'>): number {
  return Math.max(0, reservation.tokens);
}

/**
 * Adds a call to its day: where it is not in it, and used, reserved and these tokens together stay within the limit. The
 * caller has made sure that the tokens alone do: a day without a call has no counter to compare.
 */
export function reserveCall(userKey: string, reservation: Reservation): UpdateRequest {
  const { now, dailyLimit, callId } = reservation;
  const tokens = reservedTokens(reservation);
  const day = toDay(now);
  return {
    Key: itemKey(userKey, SORT_KEYS.usage(day)),
    UpdateExpression: 'SET #open = :open, #expires_at = :expires_at ADD #committed :tokens, #calls :one',
    ConditionExpression:
      'attribute_not_exists(#open) AND (attribute_not_exists(#committed) OR #committed <= :most_before)',
    ExpressionAttributeNames: { '#open': openAttribute(callId), ...aliases(TTL_ATTRIBUTE, 'committed', 'calls') },
    ExpressionAttributeValues: {
      ':open': { tokens, started_at: now },
      ':expires_at': Math.ceil((Date.parse(`${day}T00:00:00Z`) + DAY_MS + KEEP_MS) / SECOND_MS),
      ':tokens': tokens,
      ':one': 1,
      ':most_before': dailyLimit - tokens,
    },
  };
}

/** Ends an unsettled call of a day, with what it used; nothing where it is settled, or the day is gone. */
export function settleCall(
  userKey: string,
  day: string,
  call: { readonly callId: string; readonly reserved: number },
  used: TokenUsage,
): UpdateRequest {
  const names = Object.keys(COUNTERS);
  const counted = Object.entries(COUNTERS).map(([name, field]) => [`:${name}`, used[field]]);
  return {
    Key: itemKey(userKey, SORT_KEYS.usage(day)),
    UpdateExpression: `REMOVE #open ADD #committed :change, ${names.map((name) => `#${name} :${name}`).join(', ')}`,
    ConditionExpression: '#open.#tokens = :reserved',
    ExpressionAttributeNames: { '#open': openAttribute(call.callId), ...aliases('tokens', 'committed', ...names) },
    ExpressionAttributeValues: {
      ':reserved': call.reserved,
      ':change': budgetTokens(used) - call.reserved,
      ...Object.fromEntries(counted),
    },
  };
}

/** @throws DefectError `table.item_unreadable` naming the attribute */
export function readDay(stored: StoredItem): StoredDay {
  const item = parseItem('usage', ITEM, stored);
  const open = Object.entries(stored)
    .filter(([name]) => name.startsWith(OPEN_PREFIX))
    .map(([name, value]) => [name, parseItem('usage', z.object({ open: OPEN }), { open: value }).open.tokens] as const);
  return {
    committed: item.committed ?? 0,
    calls: item.calls ?? 0,
    usage: {
      inputTokens: item.input_tokens ?? 0,
      cachedInputTokens: item.cached_input_tokens ?? 0,
      cacheWriteInputTokens: item.cache_write_input_tokens ?? 0,
      outputTokens: item.output_tokens ?? 0,
      reasoningOutputTokens: item.reasoning_output_tokens ?? 0,
      totalTokens: item.total_tokens ?? 0,
    },
    open: new Map(open),
    expiresAt: (item[TTL_ATTRIBUTE] ?? Number.POSITIVE_INFINITY) * SECOND_MS,
  };
}

export function dayUsage(day: string, stored: StoredDay): DayUsage {
  const reserved = [...stored.open.values()].reduce((sum, tokens) => sum + tokens, 0);
  return { day, calls: stored.calls, usage: stored.usage, reservedTokens: reserved };
}
