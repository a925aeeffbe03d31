import { addUsage, NO_USAGE, type TokenUsage } from '../../core/agent/token-usage.ts';
import { UnavailableError } from '../../core/errors.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { DayUsage, Reservation, UsageLedger } from '../../core/ports/usage-ledger.ts';
import { DAY_MS, toDay } from '../../core/time.ts';
import type { DynamoTable } from './dynamo-table.ts';
import { itemKey } from './requests.ts';
import { SORT_KEYS } from './table.ts';
import {
  dayUsage,
  openAttribute,
  readDay,
  reserveCall,
  reservedTokens,
  type StoredDay,
  settleCall,
} from './usage-requests.ts';

/** A try fails only where the day changed between the write and the look. */
const MAX_TRIES = 4;

/**
 * The ledger in DynamoDB: one item a user and day, with the day's counters and an attribute for each unsettled call. A call
 * that is not settled by the end of the next day stays counted with what it reserved.
 */
export class DynamoUsageLedger implements UsageLedger {
  readonly #table: DynamoTable;
  readonly #clock: Clock;

  /** @param clock tells where to look for a call that ends: on its day and the day before */
  constructor(table: DynamoTable, clock: Clock) {
    this.#table = table;
    this.#clock = clock;
  }

  /** @throws UnavailableError `ledger.contended` */
  async reserve(userKey: string, reservation: Reservation) {
    const { dailyLimit, callId, now } = reservation;
    const mostBefore = dailyLimit - reservedTokens(reservation);
    const request = reserveCall(userKey, reservation);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (mostBefore >= 0 && (await this.#table.update(request)) === 'done') return { kind: 'reserved' } as const;
      const day = await this.#day(userKey, toDay(now));
      // reserved before, or just now with its reply lost
      if (day?.open.has(openAttribute(callId))) return { kind: 'reserved' } as const;
      const usedTokens = day?.committed ?? 0;
      if (usedTokens > mostBefore) return { kind: 'over_budget', usedTokens, limit: dailyLimit } as const;
    }
    throw contended();
  }

  /** @throws UnavailableError `ledger.contended` */
  async settle(userKey: string, callId: string, usage: TokenUsage | null): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const open = await this.#findOpen(userKey, callId);
      if (open === undefined) return;
      const { day, reserved } = open;
      const used = addUsage(NO_USAGE, usage ?? { ...NO_USAGE, inputTokens: reserved, totalTokens: reserved });
      const end = await this.#table.update(settleCall(userKey, day, { callId, reserved }, used));
      if (end === 'done') return;
    }
    throw contended();
  }

  async day(userKey: string, day: string): Promise<DayUsage> {
    const stored = await this.#day(userKey, day);
    if (stored === undefined || stored.expiresAt <= this.#clock.now())
      return { day, calls: 0, usage: NO_USAGE, reservedTokens: 0 };
    return dayUsage(day, stored);
  }

  async #day(userKey: string, day: string): Promise<StoredDay | undefined> {
    const item = await this.#table.get(itemKey(userKey, SORT_KEYS.usage(day)));
    return item === undefined ? undefined : readDay(item);
  }

  /** An unsettled call of today or, where it began before midnight, of yesterday. */
  async #findOpen(
    userKey: string,
    callId: string,
  ): Promise<{ readonly day: string; readonly reserved: number } | undefined> {
    const now = this.#clock.now();
    const days = [toDay(now), toDay(now - DAY_MS)];
    const items = await this.#table.batchGet(days.map((day) => itemKey(userKey, SORT_KEYS.usage(day))));
    for (const day of days) {
      const item = items.find((stored) => stored['sk'] === SORT_KEYS.usage(day));
      const reserved = item && readDay(item).open.get(openAttribute(callId));
      if (reserved !== undefined) return { day, reserved };
    }
    return undefined;
  }
}

function contended(): UnavailableError {
  return new UnavailableError('ledger.contended', 'the ledger is changing too fast; try again');
}
