import type { EraseMarks } from '../../core/ports/erase-marks.ts';
import type { Database } from './database.ts';

/** Marks in SQLite. */
export class SqliteEraseMarks implements EraseMarks {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async read(userKey: string): Promise<number | null> {
    const sql = 'SELECT until FROM erase_marks WHERE user_key = ?';
    return this.#database.one('erase_marks', sql, userKey)?.integer('until') ?? null;
  }

  async write(userKey: string, until: number): Promise<void> {
    const sql = 'INSERT OR REPLACE INTO erase_marks (user_key, until) VALUES (?, ?)';
    this.#database.change(() => this.#database.run(sql, userKey, until));
  }

  async remove(userKey: string): Promise<void> {
    this.#database.change(() => this.#database.run('DELETE FROM erase_marks WHERE user_key = ?', userKey));
  }
}
