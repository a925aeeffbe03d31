import * as z from 'zod';
import type { DueIndex, DueJob, DuePage, DueQuery } from '../../core/ports/due-index.ts';
import type { Database } from './database.ts';
import type { Row } from './row.ts';

/** Due jobs in SQLite: one shard, since one machine has few users. */
export class SqliteDueIndex implements DueIndex {
  readonly shards = 1;
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async due(query: DueQuery): Promise<DuePage> {
    const { dueAt, userKey, threadId } = readPlace(query.after);
    const [table, id] = query.kind === 'extraction' ? ['stage1', 'thread_id'] : ['consolidation', "''"];
    const rows = this.#database.all(
      table,
      `SELECT user_key, ${id} AS thread_id, due_at FROM ${table}
        WHERE due_at <= ? AND (due_at, user_key, ${id}) > (?, ?, ?) ORDER BY due_at, user_key, ${id} LIMIT ?`,
      query.now,
      dueAt,
      userKey,
      threadId,
      query.limit,
    );
    const jobs = rows.map((row) => readJob(query.kind, row));
    const last = jobs.at(-1);
    return {
      jobs,
      unreadable: 0,
      next: jobs.length < query.limit || last === undefined ? null : JSON.stringify(placeOf(last)),
    };
  }

  async postpone(job: DueJob, until: number): Promise<boolean> {
    const { userKey, key, dueAt } = job;
    return this.#database.change(() => {
      if (key.kind === 'consolidation') {
        const sql = 'UPDATE consolidation SET due_at = ? WHERE user_key = ? AND due_at = ?';
        return this.#database.run(sql, until, userKey, dueAt) > 0;
      }
      const sql = 'UPDATE stage1 SET due_at = ? WHERE user_key = ? AND thread_id = ? AND due_at = ?';
      return this.#database.run(sql, until, userKey, key.threadId, dueAt) > 0;
    });
  }
}

const PLACE = z.object({ dueAt: z.number(), userKey: z.string(), threadId: z.string() });

function placeOf({ dueAt, userKey, key }: DueJob): z.infer<typeof PLACE> {
  return { dueAt, userKey, threadId: key.kind === 'extraction' ? key.threadId : '' };
}

function readPlace(after: string | null): z.infer<typeof PLACE> {
  return after === null ? { dueAt: -1, userKey: '', threadId: '' } : PLACE.parse(JSON.parse(after));
}

function readJob(kind: DueQuery['kind'], row: Row): DueJob {
  const [userKey, dueAt] = [row.text('user_key'), row.integer('due_at')];
  return kind === 'consolidation'
    ? { userKey, dueAt, key: { kind } }
    : { userKey, dueAt, key: { kind, threadId: row.text('thread_id') } };
}
