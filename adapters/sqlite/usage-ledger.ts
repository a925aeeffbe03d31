import { checkDayBudget } from '../../core/agent/day-budget.ts';
import { addUsage, NO_USAGE, type TokenUsage } from '../../core/agent/token-usage.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { DayUsage, Reservation, UsageLedger } from '../../core/ports/usage-ledger.ts';
import { toDay } from '../../core/time.ts';
import type { Database } from './database.ts';

const USAGE_COLUMNS =
  'input_tokens, cached_input_tokens, cache_write_input_tokens, output_tokens, reasoning_output_tokens, total_tokens';
const SET_USAGE = USAGE_COLUMNS.split(', ')
  .map((column) => `${column} = ?`)
  .join(', ');

/** The ledger in SQLite: a total a day, which decides about a call, and a row a call, which explains the total. */
export class SqliteUsageLedger implements UsageLedger {
  readonly #database: Database;
  readonly #clock: Clock;

  /** @param clock tells when a call was settled; the day of a call is that of its reservation */
  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  async reserve(userKey: string, reservation: Reservation) {
    return this.#database.change(() => {
      const sql = 'SELECT day FROM usage_calls WHERE user_key = ? AND call_id = ?';
      if (this.#database.one('usage_calls', sql, userKey, reservation.callId)) return { kind: 'reserved' } as const;
      const day = this.#day(userKey, toDay(reservation.now));
      const answer = checkDayBudget(day, reservation);
      if (answer.kind === 'reserved') this.#begin(userKey, reservation, day);
      return answer;
    });
  }

  async settle(userKey: string, callId: string, usage: TokenUsage | null): Promise<void> {
    this.#database.change(() => {
      const sql = 'SELECT day, reserved_tokens, settled_at FROM usage_calls WHERE user_key = ? AND call_id = ?';
      const call = this.#database.one('usage_calls', sql, userKey, callId);
      if (call === undefined || call.integerOrNull('settled_at') !== null) return;
      const reserved = call.integer('reserved_tokens');
      const used = usage ?? { ...NO_USAGE, inputTokens: reserved, totalTokens: reserved };
      const day = this.#day(userKey, call.text('day'));
      this.#putDay(userKey, {
        ...day,
        usage: addUsage(day.usage, used),
        reservedTokens: day.reservedTokens - reserved,
      });
      this.#database.run(
        `UPDATE usage_calls SET settled_at = ?, ${SET_USAGE} WHERE user_key = ? AND call_id = ?`,
        this.#clock.now(),
        ...usageValues(addUsage(NO_USAGE, used)),
        userKey,
        callId,
      );
    });
  }

  async day(userKey: string, day: string): Promise<DayUsage> {
    return this.#day(userKey, day);
  }

  #begin(userKey: string, reservation: Reservation, day: DayUsage): void {
    const reserved = Math.max(0, reservation.tokens);
    this.#putDay(userKey, { ...day, calls: day.calls + 1, reservedTokens: day.reservedTokens + reserved });
    this.#database.run(
      `INSERT INTO usage_calls (user_key, call_id, day, purpose, subject, model, reserved_tokens, started_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      userKey,
      reservation.callId,
      day.day,
      reservation.purpose,
      reservation.subject,
      reservation.model,
      reserved,
      reservation.now,
    );
  }

  #day(userKey: string, day: string): DayUsage {
    const sql = `SELECT calls, reserved_tokens, ${USAGE_COLUMNS} FROM usage_days WHERE user_key = ? AND day = ?`;
    const row = this.#database.one('usage_days', sql, userKey, day);
    if (row === undefined) return { day, calls: 0, usage: NO_USAGE, reservedTokens: 0 };
    return {
      day,
      calls: row.integer('calls'),
      usage: {
        inputTokens: row.integer('input_tokens'),
        cachedInputTokens: row.integer('cached_input_tokens'),
        cacheWriteInputTokens: row.integer('cache_write_input_tokens'),
        outputTokens: row.integer('output_tokens'),
        reasoningOutputTokens: row.integer('reasoning_output_tokens'),
        totalTokens: row.integer('total_tokens'),
      },
      reservedTokens: row.integer('reserved_tokens'),
    };
  }

  #putDay(userKey: string, day: DayUsage): void {
    this.#database.run(
      `INSERT OR REPLACE INTO usage_days (user_key, day, calls, reserved_tokens, ${USAGE_COLUMNS})
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      userKey,
      day.day,
      day.calls,
      day.reservedTokens,
      ...usageValues(day.usage),
    );
  }
}

/** In the order of `USAGE_COLUMNS`. */
function usageValues(usage: TokenUsage): number[] {
  return [
    usage.inputTokens,
    usage.cachedInputTokens,
    usage.cacheWriteInputTokens,
    usage.outputTokens,
    usage.reasoningOutputTokens,
    usage.totalTokens,
  ];
}
