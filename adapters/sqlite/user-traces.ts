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

/** Counted, and removed by `EraseMarks` alone. */
const MARKS = 'erase_marks';

/** The user, and accounts kept below one (`<user key>/<name>`): no user key holds a slash, and `0` is what follows it. */
const OF_USER = "(user_key = ?1 OR (user_key > ?1 || '/' AND user_key < ?1 || '0'))";

/** Steps carry no user, but each of them is a call in the ledger of one. */
const STEPS_OF_USER = `run_id IN (SELECT subject FROM usage_calls WHERE purpose = 'consolidation' AND ${OF_USER})`;

/** What SQLite keeps of a user. */
export class SqliteUserTraces implements UserTraces {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async count(userKey: string): Promise<TraceCounts> {
    const rows = (table: string, where: string): number =>
      this.#database.one(table, `SELECT count(*) AS items FROM ${table} WHERE ${where}`, userKey)?.integer('items') ??
      0;
    return this.#database.change(() => {
      const { items } = tracesOf(rows);
      return { ...NO_TRACES, items: items + rows(MARKS, OF_USER) };
    });
  }

  async erase(userKey: string): Promise<TraceCounts> {
    const remove = (table: string, where: string): number =>
      this.#database.run(`DELETE FROM ${table} WHERE ${where}`, userKey);
    return this.#database.change(() => tracesOf(remove));
  }
}

/** Steps come first: the ledger says whose they are. */
function tracesOf(look: (table: string, where: string) => number): TraceCounts {
  let items = look('steps', STEPS_OF_USER);
  for (const table of TABLES) items += look(table, OF_USER);
  return { ...NO_TRACES, items };
}
