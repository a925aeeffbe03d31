import type * as z from 'zod';
import { readAnswer, writeAnswer } from '../../core/job/step-answer.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { StepRunner } from '../../core/ports/step-runner.ts';
import { DAY_MS } from '../../core/time.ts';
import type { Database } from './database.ts';

/** Answers of runs that nobody took up again are dropped after this: they hold texts, and a home must not keep them for ever. */
const KEEP_MS = 7 * DAY_MS;

/** Steps checkpointed in SQLite: a run that was killed goes on after its last finished step. */
export class SqliteStepRunner implements StepRunner {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /**
   * @throws DefectError `step.answer_unreadable` when the stored answer does not have the shape (it was kept by another
   *   version of the program); it is dropped, so that the next pass does the step again
   */
  async run<T>(runId: string, name: string, shape: z.ZodType<T>, work: () => Promise<T>): Promise<T> {
    const stored = this.#stored(runId, name);
    if (stored !== undefined) return this.#readStored(runId, name, shape, stored);
    const text = writeAnswer(name, await work());
    readAnswer(name, shape, text); // before it is kept: an answer without its shape would block every later pass
    const kept = this.#database.change(() => {
      const now = this.#clock.now();
      this.#database.run('DELETE FROM steps WHERE kept_at < ?', now - KEEP_MS);
      this.#database.run(
        'INSERT OR IGNORE INTO steps (run_id, name, kept_at, answer) VALUES (?, ?, ?, ?)',
        runId,
        name,
        now,
        text,
      );
      return this.#stored(runId, name) ?? text;
    });
    return this.#readStored(runId, name, shape, kept);
  }

  async finish(runId: string): Promise<void> {
    this.#database.change(() => this.#database.run('DELETE FROM steps WHERE run_id = ?', runId));
  }

  #stored(runId: string, name: string): string | undefined {
    const sql = 'SELECT answer FROM steps WHERE run_id = ? AND name = ?';
    return this.#database.one('steps', sql, runId, name)?.text('answer');
  }

  #readStored<T>(runId: string, name: string, shape: z.ZodType<T>, text: string): T {
    try {
      return readAnswer(name, shape, text);
    } catch (error) {
      this.#database.change(() => this.#database.run('DELETE FROM steps WHERE run_id = ? AND name = ?', runId, name));
      throw error;
    }
  }
}
