import { constants, type Dirent, type Stats } from 'node:fs';
import { access, readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { DeniedError, InvalidInputError, NotFoundError } from '../core/errors.ts';
import { compareBytes } from '../core/text.ts';

/** A file that may hold a rollout. Whether it does is told by its content, later. */
export interface FoundFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}

/** In a folder these endings are looked at; a file named by the user is always looked at. */
const ENDINGS = ['.jsonl', '.json', '.jsonl.zst', '.jsonl.gz', '.json.zst', '.json.gz'];

const MAX_SHOWN = 200;

/**
 * Finds rollout files below the given paths, in byte order, each once. Links inside a folder are not followed. A compressed
 * file beside its plain form is left out (behaviours W-01).
 * @throws NotFoundError `run.path_not_found`, DeniedError `run.path_unreadable`, InvalidInputError `run.no_rollouts`
 */
export async function findRollouts(paths: readonly string[]): Promise<readonly FoundFile[]> {
  const found = new Map<string, FoundFile>();
  for (const path of paths.map((item) => resolve(item))) {
    const stats = await statPath(path);
    if (!stats.isDirectory()) await requireReadable(path);
    const files = stats.isDirectory() ? await walk(path) : [toFound(path, stats)];
    if (files.length === 0) {
      throw new InvalidInputError(
        'run.no_rollouts',
        `no rollouts in ${path}: a rollout is a file that ends in ${ENDINGS.join(', ')}`,
        { details: { field: 'path' } },
      );
    }
    for (const file of files) found.set(file.path, file);
  }
  return [...found.values()]
    .filter((file) => !found.has(file.path.replace(/\.(zst|gz)$/, '')) || !/\.(zst|gz)$/.test(file.path))
    .sort((a, b) => compareBytes(a.path, b.path));
}

/** Of the given folders those that exist: the default places to look. */
export async function existingFolders(folders: readonly string[]): Promise<readonly string[]> {
  const checks = await Promise.all(
    folders.map((folder) =>
      stat(folder).then(
        (stats) => stats.isDirectory(),
        (error: unknown) => {
          if (errorCode(error) === 'ENOENT') return false;
          throw unreadable(folder, error);
        },
      ),
    ),
  );
  return folders.filter((_, at) => checks[at]);
}

async function walk(folder: string): Promise<FoundFile[]> {
  const files: FoundFile[] = [];
  for (const entry of await readFolder(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await walk(path)));
    else if (entry.isFile() && ENDINGS.some((ending) => entry.name.endsWith(ending))) {
      files.push(toFound(path, await statPath(path)));
    }
  }
  return files;
}

/** A file that the person named must be readable; one found in a folder ends with an outcome of its own instead. */
async function requireReadable(path: string): Promise<void> {
  try {
    await access(path, constants.R_OK);
  } catch (error) {
    throw unreadable(path, error);
  }
}

async function readFolder(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    throw unreadable(folder, error);
  }
}

async function statPath(path: string): Promise<Stats> {
  try {
    return await stat(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(errorCode(error))) {
      const shown = path.length > MAX_SHOWN ? `${path.slice(0, MAX_SHOWN)}… (${path.length} characters)` : path;
      throw new NotFoundError('run.path_not_found', `no such file or folder: ${shown}`, {
        details: { field: 'path' },
        cause: error,
      });
    }
    throw unreadable(path, error);
  }
}

function unreadable(path: string, cause: unknown): DeniedError {
  return new DeniedError(
    'run.path_unreadable',
    `cannot read ${basename(path)} (${errorCode(cause)}): check its permissions`,
    {
      details: { field: 'path' },
      cause,
    },
  );
}

function toFound(path: string, stats: Stats): FoundFile {
  return { path, bytes: stats.size, modifiedAt: Math.trunc(stats.mtimeMs) };
}

/** Node's error code, or the error's name. */
export function errorCode(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.name : 'unknown';
}
