import * as z from 'zod';
import type { Head, PendingNote } from '../../core/consolidation/manifest.ts';
import { DefectError } from '../../core/errors.ts';
import type { HeadStore, SwitchRequest } from '../../core/ports/head-store.ts';
import type { Database } from './database.ts';

const EMPTY: Head = { version: 0, publishedAt: null, summary: '', pendingNotes: [], epoch: 0, fence: null };
const NOTES = z.array(z.object({ path: z.string(), text: z.string() }));

/** The head in SQLite: one row a user. */
export class SqliteHeadStore implements HeadStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async read(userKey: string): Promise<Head> {
    return this.#read(userKey);
  }

  async setFence(userKey: string, token: string): Promise<Head> {
    return this.#database.change(() => this.#write(userKey, { ...this.#read(userKey), fence: token }));
  }

  async switchTo(userKey: string, request: SwitchRequest): Promise<'switched' | 'lost'> {
    return this.#database.change(() => {
      const head = this.#read(userKey);
      const { from, epoch, fence, to } = request;
      if (head.version !== from || head.epoch !== epoch || (fence !== null && head.fence !== fence)) return 'lost';
      const { version, publishedAt, summary, pendingNotes } = to;
      this.#write(userKey, { ...head, version, publishedAt, summary, pendingNotes });
      return 'switched';
    });
  }

  async reset(userKey: string): Promise<Head> {
    return this.#database.change(() => this.#write(userKey, { ...EMPTY, epoch: this.#read(userKey).epoch + 1 }));
  }

  #read(userKey: string): Head {
    const sql = 'SELECT version, published_at, summary, pending_notes, epoch, fence FROM head WHERE user_key = ?';
    const row = this.#database.one('head', sql, userKey);
    if (row === undefined) return EMPTY;
    return {
      version: row.integer('version'),
      publishedAt: row.integerOrNull('published_at'),
      summary: row.text('summary'),
      pendingNotes: readNotes(row.text('pending_notes')),
      epoch: row.integer('epoch'),
      fence: row.textOrNull('fence'),
    };
  }

  #write(userKey: string, head: Head): Head {
    this.#database.run(
      `INSERT OR REPLACE INTO head (user_key, version, published_at, summary, pending_notes, epoch, fence)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
      userKey,
      head.version,
      head.publishedAt,
      head.summary,
      JSON.stringify(head.pendingNotes),
      head.epoch,
      head.fence,
    );
    return head;
  }
}

function readNotes(text: string): readonly PendingNote[] {
  try {
    return NOTES.parse(JSON.parse(text));
  } catch {
    // without a cause: it would quote the notes
    throw new DefectError('home.row_unreadable', 'the database holds an unreadable value in head.pending_notes', {
      details: { table: 'head', column: 'pending_notes' },
    });
  }
}
