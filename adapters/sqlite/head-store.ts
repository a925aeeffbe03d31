import * as z from 'zod';
import type { Head } from '../../core/consolidation/manifest.ts';
import { DefectError } from '../../core/errors.ts';
import type { HeadStore, SwitchRequest } from '../../core/ports/head-store.ts';
import type { Database } from './database.ts';
import type { Row } from './row.ts';

const EMPTY: Head = { version: 0, publishedAt: null, summary: '', pendingNotes: [], places: [], epoch: 0, fence: null };
const PLACES = z.array(z.object({ directory: z.string(), project: z.string() }));
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
      const { version, publishedAt, summary, pendingNotes, places } = to;
      this.#write(userKey, { ...head, version, publishedAt, summary, pendingNotes, places });
      return 'switched';
    });
  }

  async reset(userKey: string): Promise<Head> {
    return this.#database.change(() => this.#write(userKey, { ...EMPTY, epoch: this.#read(userKey).epoch + 1 }));
  }

  #read(userKey: string): Head {
    const sql =
      'SELECT version, published_at, summary, pending_notes, places, epoch, fence FROM head WHERE user_key = ?';
    const row = this.#database.one('head', sql, userKey);
    if (row === undefined) return EMPTY;
    return {
      version: row.integer('version'),
      publishedAt: row.integerOrNull('published_at'),
      summary: row.text('summary'),
      pendingNotes: readList(NOTES, row, 'pending_notes'),
      places: readList(PLACES, row, 'places'),
      epoch: row.integer('epoch'),
      fence: row.textOrNull('fence'),
    };
  }

  #write(userKey: string, head: Head): Head {
    this.#database.run(
      `INSERT OR REPLACE INTO head (user_key, version, published_at, summary, pending_notes, places, epoch, fence)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      userKey,
      head.version,
      head.publishedAt,
      head.summary,
      JSON.stringify(head.pendingNotes),
      JSON.stringify(head.places),
      head.epoch,
      head.fence,
    );
    return head;
  }
}

function readList<T>(shape: z.ZodType<T[]>, row: Row, column: string): readonly T[] {
  try {
    return shape.parse(JSON.parse(row.text(column)));
  } catch {
    // without a cause: it would quote the text
    throw new DefectError('home.row_unreadable', `the database holds an unreadable value in head.${column}`, {
      details: { table: 'head', column },
    });
  }
}
