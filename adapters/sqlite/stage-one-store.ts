import type { SnapshotRef, StageOneBody, StageOneHead } from '../../core/extraction/stage-one-output.ts';
import type { StageOneStore } from '../../core/ports/stage-one-store.ts';
import { LIMITS } from '../../core/settings.ts';
import { packBody, unpackBody } from './body-codec.ts';
import type { Database } from './database.ts';
import { HEAD_COLUMNS, readHead } from './stage-one-row.ts';

const HEADS = `SELECT thread_id, ${HEAD_COLUMNS} FROM stage1 WHERE user_key = ? AND source_updated_at IS NOT NULL`;
/** One range of the primary key, whatever the number of outputs. */
export const LIST_HEADS = `${HEADS} ORDER BY thread_id`;
const CLEAR_HEAD = HEAD_COLUMNS.split(', ')
  .map((column) => `${column} = NULL`)
  .join(', ');

/** Stage-one outputs in SQLite; heads are written by `SqliteJobStore.complete` into the same rows. */
export class SqliteStageOneStore implements StageOneStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async putBody(userKey: string, ref: SnapshotRef, body: StageOneBody): Promise<void> {
    const content = packBody(body);
    this.#database.change(() =>
      this.#database.run(
        'INSERT OR REPLACE INTO bodies (user_key, thread_id, source_updated_at, content) VALUES (?, ?, ?, ?)',
        userKey,
        ref.threadId,
        ref.sourceUpdatedAt,
        content,
      ),
    );
  }

  async heads(userKey: string): Promise<readonly StageOneHead[]> {
    return this.#database.all('stage1', LIST_HEADS, userKey).map(readHead);
  }

  async head(userKey: string, threadId: string): Promise<StageOneHead | undefined> {
    const row = this.#database.one('stage1', `${HEADS} AND thread_id = ?`, userKey, threadId);
    return row && readHead(row);
  }

  async bodies(userKey: string, refs: readonly SnapshotRef[]): Promise<ReadonlyMap<string, StageOneBody>> {
    const found = new Map<string, StageOneBody>();
    for (const ref of refs) {
      const row = this.#database.one(
        'bodies',
        'SELECT content FROM bodies WHERE user_key = ? AND thread_id = ? AND source_updated_at = ?',
        userKey,
        ref.threadId,
        ref.sourceUpdatedAt,
      );
      if (row !== undefined) found.set(ref.threadId, unpackBody(row.bytes('content')));
    }
    return found;
  }

  async recordUsage(
    userKey: string,
    threadIds: readonly string[],
    now: number,
    useId?: string,
  ): Promise<readonly string[]> {
    const sql = `UPDATE stage1 SET usage_count = coalesce(usage_count, 0) + 1, last_usage = ?
      WHERE user_key = ? AND thread_id = ? AND source_updated_at IS NOT NULL`;
    return this.#database.change(() => {
      const repeated = new Set(useId === undefined ? [] : this.#usedUnder(userKey, useId, now));
      const counted = threadIds.filter(
        (threadId) => repeated.has(threadId) || this.#database.run(sql, now, userKey, threadId) > 0,
      );
      const mark = 'UPDATE stage1 SET use_id = ? WHERE user_key = ? AND thread_id = ?';
      for (const threadId of new Set(counted)) this.#database.run(mark, useId ?? null, userKey, threadId);
      return counted;
    });
  }

  #usedUnder(userKey: string, useId: string, now: number): readonly string[] {
    const sql = `SELECT thread_id FROM stage1
      WHERE user_key = ? AND use_id = ? AND last_usage > ? AND source_updated_at IS NOT NULL`;
    return this.#database
      .all('stage1', sql, userKey, useId, now - LIMITS.receiptMs)
      .map((row) => row.text('thread_id'));
  }

  async markSelected(userKey: string, refs: readonly SnapshotRef[]): Promise<void> {
    this.#database.change(() => {
      this.#database.run(
        'UPDATE stage1 SET selected_snapshot = NULL WHERE user_key = ? AND selected_snapshot IS NOT NULL',
        userKey,
      );
      const sql = `UPDATE stage1 SET selected_snapshot = source_updated_at
        WHERE user_key = ? AND thread_id = ? AND source_updated_at = ?`;
      for (const ref of refs) this.#database.run(sql, userKey, ref.threadId, ref.sourceUpdatedAt);
    });
  }

  async remove(
    userKey: string,
    refs: readonly SnapshotRef[],
    options: { readonly onlyUnselected: boolean },
  ): Promise<number> {
    const unselected = options.onlyUnselected ? 'AND selected_snapshot IS NULL' : '';
    const clearHead = `UPDATE stage1 SET ${CLEAR_HEAD}
      WHERE user_key = ? AND thread_id = ? AND source_updated_at = ? ${unselected}`;
    const dropBody = 'DELETE FROM bodies WHERE user_key = ? AND thread_id = ? AND source_updated_at = ?';
    return this.#database.change(() => {
      let removed = 0;
      for (const ref of refs) {
        if (this.#database.run(clearHead, userKey, ref.threadId, ref.sourceUpdatedAt) === 0) continue;
        this.#database.run(dropBody, userKey, ref.threadId, ref.sourceUpdatedAt);
        removed += 1;
      }
      return removed;
    });
  }

  async removeOrphanBodies(userKey: string): Promise<number> {
    const sql = `DELETE FROM bodies WHERE user_key = ? AND NOT EXISTS (
      SELECT 1 FROM stage1 WHERE stage1.user_key = bodies.user_key AND stage1.thread_id = bodies.thread_id
        AND (stage1.status = 'running' OR stage1.source_updated_at = bodies.source_updated_at))`;
    return this.#database.change(() => this.#database.run(sql, userKey));
  }
}
