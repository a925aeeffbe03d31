import type { SQLInputValue } from 'node:sqlite';
import * as z from 'zod';
import { DefectError } from '../../core/errors.ts';
import type { ThreadMark, ThreadStore } from '../../core/ports/thread-store.ts';
import type { MemoryMode, Thread } from '../../core/thread/thread.ts';
import type { Database } from './database.ts';
import type { Row } from './row.ts';

const MODES = ['enabled', 'disabled', 'polluted'] as const;
const COLUMNS =
  'user_key, thread_id, memory_mode, source, subagent, ephemeral, parent_thread_id, agent_kind, cwd, repository, project, git_branch, title, created_at, updated_at, ended, forgotten_at, requested_at, rollout_sha256, rollout_bytes, rollout_uploaded_at, rollout_path, rollout_order, reading';
const READING = z.object({
  broken: z.int(),
  oversized: z.int(),
  tornTail: z.boolean(),
  redactions: z.record(z.string(), z.int()),
});
const MARKS = COLUMNS.replaceAll(/\w+/g, '?');

/** The catalogue in SQLite. */
export class SqliteThreadStore implements ThreadStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async get(userKey: string, threadId: string): Promise<Thread | undefined> {
    return this.#get(userKey, threadId);
  }

  async update(
    userKey: string,
    threadId: string,
    change: (stored: Thread | undefined) => Thread | undefined,
  ): Promise<Thread | undefined> {
    return this.#database.change(() => {
      const stored = this.#get(userKey, threadId);
      const changed = change(stored);
      if (changed === undefined || changed === stored) return stored;
      if (changed.threadId !== threadId)
        throw new DefectError('thread.id_changed', 'a change of a thread must keep its id');
      const sql = `INSERT OR REPLACE INTO threads (${COLUMNS}) VALUES (${MARKS})`;
      this.#database.run(sql, userKey, ...threadValues(changed));
      return changed;
    });
  }

  async setMemoryMode(userKey: string, threadId: string, mode: MemoryMode): Promise<boolean> {
    const sql = 'UPDATE threads SET memory_mode = ?1 WHERE user_key = ?2 AND thread_id = ?3 AND memory_mode <> ?1';
    return this.#database.change(() => this.#database.run(sql, mode, userKey, threadId) > 0);
  }

  async list(userKey: string, page: { readonly after?: string; readonly limit: number }): Promise<readonly Thread[]> {
    // every id sorts after the empty one
    const sql = `SELECT ${COLUMNS} FROM threads WHERE user_key = ? AND thread_id > ? ORDER BY thread_id LIMIT ?`;
    return this.#database.all('threads', sql, userKey, page.after ?? '', Math.max(0, page.limit)).map(readThread);
  }

  async marks(userKey: string): Promise<readonly ThreadMark[]> {
    const sql =
      'SELECT thread_id, updated_at, rollout_uploaded_at, reading FROM threads WHERE user_key = ? AND forgotten_at IS NULL ORDER BY thread_id';
    return this.#database.all('threads', sql, userKey).map((row) => ({
      threadId: row.text('thread_id'),
      updatedAt: row.integer('updated_at'),
      uploadedAt: row.integer('rollout_uploaded_at'),
      redactions: readReading(row.textOrNull('reading'))?.redactions ?? {},
    }));
  }

  async getMany(userKey: string, threadIds: readonly string[]): Promise<ReadonlyMap<string, Thread>> {
    const sql = `SELECT ${COLUMNS} FROM threads WHERE user_key = ? AND thread_id IN (SELECT value FROM json_each(?))`;
    const rows = this.#database.all('threads', sql, userKey, JSON.stringify(threadIds));
    const found = new Map(rows.map((row) => [row.text('thread_id'), readThread(row)]));
    return new Map(
      threadIds.flatMap((threadId) => {
        const thread = found.get(threadId);
        return thread === undefined ? [] : [[threadId, thread] as const];
      }),
    );
  }

  #get(userKey: string, threadId: string): Thread | undefined {
    const sql = `SELECT ${COLUMNS} FROM threads WHERE user_key = ? AND thread_id = ?`;
    const row = this.#database.one('threads', sql, userKey, threadId);
    return row && readThread(row);
  }
}

/** In the order of `COLUMNS`, without the user key. */
function threadValues(thread: Thread): SQLInputValue[] {
  return [
    thread.threadId,
    thread.memoryMode,
    thread.source,
    Number(thread.subagent),
    Number(thread.ephemeral),
    thread.parentThreadId,
    thread.agentKind,
    thread.cwd,
    thread.repository,
    thread.project,
    thread.gitBranch,
    thread.title,
    thread.createdAt,
    thread.updatedAt,
    Number(thread.ended),
    thread.forgottenAt,
    thread.requestedAt,
    thread.rollout.sha256,
    thread.rollout.bytes,
    thread.rollout.uploadedAt,
    thread.rollout.path,
    thread.rollout.order,
    thread.reading && JSON.stringify(thread.reading),
  ];
}

function readThread(row: Row): Thread {
  return {
    threadId: row.text('thread_id'),
    memoryMode: row.oneOf('memory_mode', MODES),
    source: row.text('source'),
    subagent: row.flag('subagent'),
    ephemeral: row.flag('ephemeral'),
    parentThreadId: row.textOrNull('parent_thread_id'),
    agentKind: row.text('agent_kind'),
    cwd: row.textOrNull('cwd'),
    repository: row.textOrNull('repository'),
    project: row.text('project'),
    gitBranch: row.textOrNull('git_branch'),
    title: row.textOrNull('title'),
    createdAt: row.integer('created_at'),
    updatedAt: row.integer('updated_at'),
    ended: row.flag('ended'),
    forgottenAt: row.integerOrNull('forgotten_at'),
    requestedAt: row.integerOrNull('requested_at'),
    rollout: {
      sha256: row.text('rollout_sha256'),
      bytes: row.integer('rollout_bytes'),
      uploadedAt: row.integer('rollout_uploaded_at'),
      path: row.text('rollout_path'),
      order: row.textOrNull('rollout_order'),
    },
    reading: readReading(row.textOrNull('reading')),
  };
}

function readReading(text: string | null): Thread['reading'] {
  if (text === null) return null;
  try {
    return READING.parse(JSON.parse(text));
  } catch {
    // without a cause: it would quote the text
    throw new DefectError('home.row_unreadable', 'the database holds an unreadable value in threads.reading', {
      details: { table: 'threads', column: 'reading' },
    });
  }
}
