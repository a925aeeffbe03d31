import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { ConflictError } from '../../core/errors.ts';
import { isBusy, mapDatabaseFailure } from './database-failure.ts';
import { MIGRATIONS } from './migrations.ts';
import { Row } from './row.ts';

/** How long a change waits for another process's change, ms. Changes are single rows; only a backup would hold longer. */
const BUSY_TIMEOUT_MS = 10_000;
const WAL_TRIES = 100;
const WAL_WAIT_MS = 50;

/**
 * One connection to the database of a home. Everything in it is synchronous, so that no change of this process is ever
 * interleaved with another of it; `BEGIN IMMEDIATE` does the same between processes.
 * Every method throws our failures only (see `mapDatabaseFailure`).
 */
export class Database {
  readonly #connection: DatabaseSync;
  readonly #file: string;
  #closed = false;
  readonly #statements = new Map<string, StatementSync>();

  constructor(connection: DatabaseSync, file: string) {
    this.#connection = connection;
    this.#file = file;
  }

  /** The first row of a query, undefined when there is none. `table` names the source in errors. */
  one(table: string, sql: string, ...values: SQLInputValue[]): Row | undefined {
    const found = this.#guard(() => this.#prepare(sql).get(...values));
    return found === undefined ? undefined : new Row(found, table);
  }

  /** All rows of a query. */
  all(table: string, sql: string, ...values: SQLInputValue[]): readonly Row[] {
    return this.#guard(() => this.#prepare(sql).all(...values)).map((values_) => new Row(values_, table));
  }

  /** Runs a statement. @returns how many rows it changed */
  run(sql: string, ...values: SQLInputValue[]): number {
    return this.#guard(() => Number(this.#prepare(sql).run(...values).changes));
  }

  /**
   * Does a change as a whole or not at all, with nobody else's change in between.
   * @param work reads and writes through this object; must not wait for anything
   */
  change<T>(work: () => T): T {
    this.#guard(() => this.#connection.exec('BEGIN IMMEDIATE'));
    try {
      const answer = work();
      this.#guard(() => this.#connection.exec('COMMIT'));
      return answer;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /** Ends the connection; a second call does nothing. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#statements.clear();
    this.#guard(() => this.#connection.close());
  }

  /** After some failures (a full disk, for one) SQLite has rolled back by itself; the failure that led here is what counts. */
  #rollBack(): void {
    try {
      this.#connection.exec('ROLLBACK');
    } catch {
      // no transaction is open any more
    }
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw mapDatabaseFailure(error, this.#file);
    }
  }
}

/**
 * Opens the database of a home, makes it when it is missing (file 0600, folder 0700), and brings its schema up to date.
 * Two processes may do this at once.
 * @throws DefectError `home.database_corrupt` with the cure; UnavailableError `home.disk_full`, `home.database_busy`;
 *   DeniedError `home.read_only`; InvalidInputError `home.not_a_folder`; ConflictError `home.database_newer`
 */
export function openDatabase(path: string): Database {
  const file = basename(path);
  let connection: DatabaseSync | undefined;
  try {
    makePrivateFile(path);
    connection = new DatabaseSync(path, { enableForeignKeyConstraints: true });
    // as a pragma: the first releases of Node 22 do not know the option
    connection.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    useWriteAheadLog(connection);
    // FULL: a commit that was answered survives a power cut. secure_delete: what was forgotten is overwritten, not just unlinked.
    connection.exec('PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF');
    const database = new Database(connection, file);
    migrate(database, connection, file);
    return database;
  } catch (error) {
    connection?.close();
    throw mapDatabaseFailure(error, file);
  }
}

/**
 * Opens a database that cannot be written, such as one on a read-only disk, for reading only. A log that nobody could write
 * back is read along where SQLite can (its `-shm` file is there); a database without a log is read as it lies.
 * @throws DeniedError `home.read_only` when it cannot be read like that; ConflictError `home.database_older`,
 *   `home.database_newer`; DefectError `home.database_corrupt`
 */
export function openDatabaseToLook(path: string): Database {
  const file = basename(path);
  let connection: DatabaseSync | undefined;
  try {
    const location = hasLog(path) ? path : new URL(`${pathToFileURL(path).href}?immutable=1`);
    connection = new DatabaseSync(location, { readOnly: true });
    connection.exec('PRAGMA trusted_schema = OFF');
    const database = new Database(connection, file);
    const version = readSchemaVersion(database);
    if (version > MIGRATIONS.length) throw newerDatabase(file, version);
    if (version === MIGRATIONS.length) return database;
    throw new ConflictError(
      'home.database_older',
      `${file} was written by an older Stillroom and cannot be brought up to date where it lies; copy the home to a disk that can be written`,
      { details: { schema: version, known: MIGRATIONS.length } },
    );
  } catch (error) {
    connection?.close();
    throw mapDatabaseFailure(error, file);
  }
}

function hasLog(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function makePrivateFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
  const { mode } = statSync(path);
  if ((mode & 0o077) !== 0) chmodSync(path, 0o600);
}

/** Switching a new file to WAL needs it alone for a moment, and does not wait for that by itself. */
function useWriteAheadLog(connection: DatabaseSync): void {
  for (let tries = 1; ; tries++) {
    try {
      connection.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusy(error) || tries >= WAL_TRIES) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_WAIT_MS);
    }
  }
}

function migrate(database: Database, connection: DatabaseSync, file: string): void {
  const known = MIGRATIONS.length;
  if (readSchemaVersion(database) === known) return;
  database.change(() => {
    const from = readSchemaVersion(database); // again: another process may have been first
    if (from > known) throw newerDatabase(file, from);
    if (from === known) return;
    connection.exec('CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL) STRICT');
    for (const step of MIGRATIONS.slice(from)) connection.exec(step);
    connection.exec(`DELETE FROM schema_version; INSERT INTO schema_version VALUES (${known})`);
  });
}

function readSchemaVersion(database: Database): number {
  const exists = database.one('sqlite_schema', "SELECT 1 FROM sqlite_schema WHERE name = 'schema_version'");
  return exists ? (database.one('schema_version', 'SELECT version FROM schema_version')?.integer('version') ?? 0) : 0;
}

function newerDatabase(file: string, schema: number): ConflictError {
  const known = MIGRATIONS.length;
  return new ConflictError(
    'home.database_newer',
    `${file} was written by a newer Stillroom (schema ${schema}, this one knows ${known}); update Stillroom`,
    { details: { schema, known } },
  );
}
