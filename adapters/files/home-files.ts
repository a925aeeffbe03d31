import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DefectError, DeniedError, type StillroomError, UnavailableError } from '../../core/errors.ts';
import { DAY_MS } from '../../core/time.ts';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Opens a new file for writing. Replaced in tests, where a disk is full. */
export type FileOpener = (path: string) => Promise<FileHandle>;

export const openNewFile: FileOpener = (path) => open(path, 'wx', FILE_MODE);

/**
 * Where a user's files lie: the user `local` directly in the home, every other below a folder of its own.
 * @throws DefectError `home.invalid_user_key` for a key that `toUserKey` cannot have made
 */
export function userFolder(home: string, userKey: string): string {
  if (userKey === 'local') return home;
  if (!/^[A-Za-z0-9._~-]{1,128}$/.test(userKey) || userKey === '.' || userKey === '..') {
    throw new DefectError('home.invalid_user_key', 'a user key must come from toUserKey');
  }
  return join(home, 'users', userKey);
}

/**
 * Writes a new file beside `path` under a name of its own, to the disk, and answers that name. The caller moves it into
 * place. Where it fails, nothing is left behind; an error of `content` itself is passed on as it is.
 * @param failureCode code for a failure that is neither a full disk nor a missing permission
 */
export async function stageFile(
  path: string,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: { readonly failureCode: string; readonly openFile?: FileOpener | undefined },
): Promise<string> {
  const staged = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
  const fail = (cause: unknown): never => {
    throw writeFailure(cause, options.failureCode);
  };
  await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE }).catch(fail);
  const handle = await (options.openFile ?? openNewFile)(staged).catch(fail);
  try {
    for await (const chunk of content) await handle.writeFile(chunk).catch(fail);
    await handle.sync().catch(fail);
    await handle.close().catch(fail);
  } catch (error) {
    await handle.close().catch(() => undefined); // closed already, or closing failed: the first error says why
    await rm(staged, { force: true }).catch(() => undefined); // a stray is swept later; the first error matters
    throw error;
  }
  return staged;
}

/** Moves a staged file into its place in one step, replacing what is there, and makes the move last. */
export async function placeFile(staged: string, path: string, failureCode: string): Promise<void> {
  try {
    await rename(staged, path);
    await syncFolder(dirname(path));
  } catch (cause) {
    await rm(staged, { force: true }).catch(() => undefined); // swept later
    throw writeFailure(cause, failureCode);
  }
}

/** Removes what killed writers left staged in a folder, a day later. What cannot be removed stays for the next sweep. */
export async function sweepStrays(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []); // no folder yet: nothing to sweep
  for (const name of names) {
    if (!/^\..+\.tmp$/.test(name)) continue;
    const path = join(folder, name);
    const staged = await stat(path).catch(() => undefined); // its writer moved it into place
    if (staged !== undefined && staged.mtimeMs < Date.now() - DAY_MS)
      await rm(path, { force: true }).catch(() => undefined);
  }
}

/** Makes names created or removed in a folder survive a power cut, where the system can. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined); // Windows opens no folders
  if (handle === undefined) return;
  try {
    await handle.sync();
  } catch {
    // some file systems sync no folders; the file itself is synced
  } finally {
    await handle.close();
  }
}

/** What went wrong while writing, in the words of a person who can do something about it. */
export function writeFailure(cause: unknown, failureCode: string): StillroomError {
  const code = errorCode(cause);
  const details = { system_code: code ?? null };
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new UnavailableError('home.disk_full', 'the disk is full; free some space and run again, nothing was lost', {
      details,
      cause,
    });
  }
  if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') {
    return new DeniedError('home.read_only', 'the home folder cannot be written; choose another one with --home', {
      details,
      cause,
    });
  }
  return new UnavailableError(failureCode, 'a file of the home folder could not be written', { details, cause });
}

/** The system's code of an error, such as `ENOENT`. */
export function errorCode(cause: unknown): string | undefined {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
}
