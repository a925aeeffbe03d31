import { NO_TRACES, type TraceCounts, type UserTraces } from '../../core/ports/user-traces.ts';
import type { Database } from './database.ts';

/** Tables that hold something of a user, by their column `user_key`. */
const TABLES = [
  'threads',
  'stage1',
  'bodies',
  'consolidation',
  'head',
  'usage_days',
  'usage_calls',
  'receipts',
  'settings',
] as const;

/** What SQLite keeps of a user. */
export class SqliteUserTraces implements UserTraces {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async count(userKey: string): Promise<TraceCounts> {
    const counts = TABLES.map((table) => {
      const row = this.#database.one(table, `SELECT count(*) AS items FROM ${table} WHERE user_key = ?`, userKey);
      return row?.integer('items') ?? 0;
    });
    return { ...NO_TRACES, items: counts.reduce((sum, count) => sum + count, 0) };
  }

  async erase(userKey: string): Promise<TraceCounts> {
    const items = this.#database.change(() =>
      TABLES.map((table) => this.#database.run(`DELETE FROM ${table} WHERE user_key = ?`, userKey)).reduce(
        (sum, count) => sum + count,
        0,
      ),
    );
    return { ...NO_TRACES, items };
  }
}
