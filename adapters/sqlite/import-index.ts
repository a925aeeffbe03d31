import { DefectError } from '../../core/errors.ts';
import { type Outcome, outcomeName, parseOutcome } from '../../core/extraction/outcome.ts';
import { sha256Hex } from '../../core/ids.ts';
import type { Database } from './database.ts';

const TABLE = 'imports';

/** A file as the file system told it; another size or time means another content. */
export interface ImportedFileKey {
  readonly path: string;
  readonly bytes: number;
  /** ms since the epoch. */
  readonly modifiedAt: number;
}

/** What an import made of a file. */
export interface ImportRecord {
  readonly threadId: string | null;
  /** Set where the file did not become the rollout of a thread. */
  readonly outcome: Outcome | null;
}

/**
 * Which files of this machine were imported: spares reading an unchanged one again. Paths are kept as hashes, since a name can
 * be a secret. Local only, so no port.
 */
export class SqliteImportIndex {
  readonly #database: Database;
  readonly #reader: string;

  /** @param reader names what reads files now: what another one failed to read is worth another try */
  constructor(database: Database, reader: string) {
    this.#database = database;
    this.#reader = reader;
  }

  /** @returns undefined when the file is new or changed, or another reader failed to read it */
  find(file: ImportedFileKey): ImportRecord | undefined {
    const row = this.#database.one(
      TABLE,
      'SELECT thread_id, outcome, outcome_detail, reader FROM imports WHERE path = ? AND bytes = ? AND modified_at = ?',
      sha256Hex(file.path),
      file.bytes,
      file.modifiedAt,
    );
    if (row === undefined) return undefined;
    const name = row.textOrNull('outcome');
    const outcome = name === null ? null : decodeOutcome(name, row.textOrNull('outcome_detail'));
    if (outcome?.kind === 'failed' && row.textOrNull('reader') !== this.#reader) return undefined;
    return { threadId: row.textOrNull('thread_id'), outcome };
  }

  /** Replaces what was known of the path. */
  remember(file: ImportedFileKey, threadId: string | null, outcome: Outcome | null): void {
    this.#database.run(
      'INSERT OR REPLACE INTO imports (path, bytes, modified_at, thread_id, outcome, outcome_detail, reader) VALUES (?, ?, ?, ?, ?, ?, ?)',
      sha256Hex(file.path),
      file.bytes,
      file.modifiedAt,
      threadId,
      outcome === null ? null : outcomeName(outcome),
      outcome?.detail ?? null,
      this.#reader,
    );
  }
}

function decodeOutcome(name: string, detail: string | null): Outcome {
  const outcome = parseOutcome(name, detail);
  if (outcome === undefined) throw new DefectError('home.row_unreadable', `table ${TABLE} names an unknown outcome`);
  return outcome;
}
