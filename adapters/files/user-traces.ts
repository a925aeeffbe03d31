import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { UnavailableError } from '../../core/errors.ts';
import { NO_TRACES, type TraceCounts, type UserTraces } from '../../core/ports/user-traces.ts';
import { errorCode, userFolder, writeFailure } from './home-files.ts';

/**
 * Folders that hold files of a user: rollouts, versions, records of runs, the working copy of the memory, and what a replacement
 * of that copy leaves beside it when it is killed.
 */
const FOLDERS = ['rollouts', 'versions', 'replays', 'memories', 'memories.next', 'memories.old'];

/** What a home keeps of a user in files: each file is one object with one content. */
export class FilesUserTraces implements UserTraces {
  readonly #home: string;

  constructor(home: string) {
    this.#home = home;
  }

  async count(userKey: string): Promise<TraceCounts> {
    const counts = await Promise.all(this.#folders(userKey).map(countFiles));
    return tracesOf(counts);
  }

  async erase(userKey: string): Promise<TraceCounts> {
    const counts: number[] = [];
    for (const folder of this.#folders(userKey)) {
      counts.push(await countFiles(folder));
      await removeFolder(folder);
    }
    if (userKey !== 'local') await removeFolder(userFolder(this.#home, userKey));
    return tracesOf(counts);
  }

  #folders(userKey: string): readonly string[] {
    return FOLDERS.map((name) => join(userFolder(this.#home, userKey), name));
  }
}

function tracesOf(counts: readonly number[]): TraceCounts {
  const files = counts.reduce((sum, count) => sum + count, 0);
  return { ...NO_TRACES, objects: files, versions: files };
}

/** Files in a folder and below it. A link counts as one, and is not followed: what it leads to is not ours. */
async function countFiles(path: string): Promise<number> {
  try {
    if (!(await lstat(path)).isDirectory()) return 1;
    const names = await readdir(path);
    const counts = await Promise.all(names.map((name) => countFiles(join(path, name))));
    return counts.reduce((sum, count) => sum + count, 0);
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return 0;
    throw new UnavailableError('home.read_failed', 'a folder of the home could not be read', {
      details: { system_code: errorCode(cause) ?? null },
      cause,
    });
  }
}

/** A link is removed, not what it leads to. */
async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 2 }).catch((cause: unknown) => {
    throw writeFailure(cause, 'home.erase_failed');
  });
}
