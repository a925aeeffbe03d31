import { DefectError, DeniedError, InvalidInputError, StillroomError, UnavailableError } from '../../core/errors.ts';

const CURE =
  'move it away together with its -wal and -shm files and type `stillroom run` with the folder rollouts/ of the home as its PATH: the memory is rebuilt from there';

/** Primary result codes of SQLite (https://sqlite.org/rescode.html) that mean something to the user. */
const CODES = { busy: 5, locked: 6, readonly: 8, ioerr: 10, corrupt: 11, full: 13, cantopen: 14, notadb: 26, perm: 3 };

/**
 * Turns what SQLite or the file system threw into one of our failures, with the cure in the message.
 * @param file the database's file name, without its folder
 */
export function mapDatabaseFailure(error: unknown, file: string): StillroomError {
  if (error instanceof StillroomError) return error;
  const sqlite = sqliteCode(error);
  if (sqlite !== undefined) return mapSqlite(sqlite, error, file);
  switch (errorCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return diskFull(error, file);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return readOnly(error, file);
    case 'ENOTDIR':
    case 'EEXIST':
    case 'EISDIR':
      return new InvalidInputError('home.not_a_folder', 'the home is not a folder; name another one with --home', {
        cause: error,
      });
    default:
      return new DefectError('home.database_failed', `the database ${file} failed`, { cause: error });
  }
}

/** True when another process holds what this one needs, so that trying again may help. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === CODES.busy || code === CODES.locked;
}

function mapSqlite(code: number, error: unknown, file: string): StillroomError {
  switch (code) {
    case CODES.corrupt:
    case CODES.notadb:
      return new DefectError('home.database_corrupt', `the database ${file} in the home cannot be read; ${CURE}`, {
        details: { file },
        cause: error,
      });
    case CODES.full:
      return diskFull(error, file);
    case CODES.readonly:
    case CODES.perm:
    case CODES.cantopen:
      return readOnly(error, file);
    case CODES.busy:
    case CODES.locked:
      return new UnavailableError('home.database_busy', `another process holds the database ${file}; try again`, {
        cause: error,
      });
    case CODES.ioerr:
      return new UnavailableError('home.io_error', `the disk failed under the database ${file}; check it`, {
        cause: error,
      });
    default:
      return new DefectError('home.database_failed', `the database ${file} failed (SQLite ${code})`, {
        details: { sqlite_code: code },
        cause: error,
      });
  }
}

function diskFull(cause: unknown, file: string): UnavailableError {
  return new UnavailableError(
    'home.disk_full',
    `the disk is full: ${file} could not be written, nothing was changed; free some space and try again`,
    { cause },
  );
}

function readOnly(cause: unknown, file: string): DeniedError {
  return new DeniedError(
    'home.read_only',
    `the home cannot be written: make it and ${file} writable for you, or name another home with --home`,
    { cause },
  );
}

function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** The primary code: extended ones carry it in their low byte. */
function sqliteCode(error: unknown): number | undefined {
  if (errorCode(error) !== 'ERR_SQLITE_ERROR' || !(error instanceof Error)) return undefined;
  return 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : 0;
}
