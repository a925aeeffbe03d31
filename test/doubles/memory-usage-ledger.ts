import { checkDayBudget } from '../../core/agent/day-budget.ts';
import { addUsage, NO_USAGE, type TokenUsage } from '../../core/agent/token-usage.ts';
import type { DayUsage, Reservation, UsageLedger } from '../../core/ports/usage-ledger.ts';
import { toDay } from '../../core/time.ts';
import { branch } from './stage-one-table.ts';

interface Call {
  readonly day: string;
  readonly reservation: Reservation;
  settled: boolean;
}

/** A ledger held in memory; `calls` shows every reservation of a user in order. */
export class MemoryUsageLedger implements UsageLedger {
  readonly #calls = new Map<string, Map<string, Call>>();
  readonly #days = new Map<string, Map<string, DayUsage>>();

  calls(userKey: string): readonly Reservation[] {
    return [...branch(this.#calls, userKey).values()].map((call) => call.reservation);
  }

  async reserve(userKey: string, reservation: Reservation) {
    const calls = branch(this.#calls, userKey);
    if (calls.has(reservation.callId)) return { kind: 'reserved' } as const;
    const day = this.#day(userKey, toDay(reservation.now));
    const answer = checkDayBudget(day, reservation);
    if (answer.kind === 'reserved') {
      const reservedTokens = day.reservedTokens + Math.max(0, reservation.tokens);
      calls.set(reservation.callId, { day: day.day, reservation, settled: false });
      branch(this.#days, userKey).set(day.day, { ...day, calls: day.calls + 1, reservedTokens });
    }
    return answer;
  }

  async settle(userKey: string, callId: string, usage: TokenUsage | null): Promise<void> {
    const call = branch(this.#calls, userKey).get(callId);
    if (call === undefined || call.settled) return;
    call.settled = true;
    const reserved = Math.max(0, call.reservation.tokens);
    const used = usage ?? { ...NO_USAGE, inputTokens: reserved, totalTokens: reserved };
    const day = this.#day(userKey, call.day);
    branch(this.#days, userKey).set(call.day, {
      ...day,
      usage: addUsage(day.usage, used),
      reservedTokens: day.reservedTokens - reserved,
    });
  }

  async day(userKey: string, day: string): Promise<DayUsage> {
    return this.#day(userKey, day);
  }

  #day(userKey: string, day: string): DayUsage {
    return branch(this.#days, userKey).get(day) ?? { day, calls: 0, usage: NO_USAGE, reservedTokens: 0 };
  }
}
