import { closeSync, existsSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { UnavailableError } from '../core/errors.ts';
import type { TokenSource } from '../core/ports/token-source.ts';

const LOCK_WAIT_MS = 60_000;
const LOCK_POLL_MS = 50;

/** Locks that are held until they are closed: one that the garbage collector takes would make a living process look dead. */
const held = new Set<DatabaseSync>();

/**
 * A living process on a home: it holds an exclusive lock on a small file of its own until it ends. The operating system
 * drops the lock of a killed process, so whoever comes next can tell a dead one at once (docs/decisions/0004).
 */
export interface Instance {
  /** Prefix of every ownership token this process gives out. */
  readonly id: string;
  close(): void;
}

/** Starts an instance under `<folder>`; `id` must be new. */
export function startInstance(folder: string, id: string): Instance {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const starting = join(folder, `${id}.starting`);
  const path = join(folder, `${id}.lock`);
  const lock = lockFile(starting);
  if (lock === undefined) throw new Error(`instance ${id} is in use`);
  // Under its final name only once it is locked: nobody can take a starting process for a dead one.
  renameSync(starting, path);
  held.add(lock);
  return {
    id,
    close: () => {
      rmSync(path, { force: true });
      held.delete(lock);
      lock.close();
    },
  };
}

/**
 * Finds the processes that died on this home and takes their lock files away.
 * @param recover called with each dead instance's id before its file goes; if it throws, the file stays for the next one
 */
export function reapDeadInstances(folder: string, recover: (id: string) => void): void {
  for (const name of readdirSync(folder)) {
    if (!name.endsWith('.lock')) continue;
    const path = join(folder, name);
    const lock = lockFile(path);
    if (lock === undefined) continue;
    try {
      recover(name.slice(0, -'.lock'.length));
      rmSync(path, { force: true });
    } finally {
      lock.close();
    }
  }
}

/** Ownership tokens that say which process they belong to: `<instance id>.<token>`. */
export function instanceTokens(instance: Instance, tokens: TokenSource): TokenSource {
  return { next: () => `${instance.id}.${tokens.next()}` };
}

/** Runs `work` while no other process runs work under the same lock file; waits up to a minute for its turn. */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  let lock = lockFile(path);
  for (let waitedMs = 0; lock === undefined; waitedMs += LOCK_POLL_MS) {
    if (waitedMs >= LOCK_WAIT_MS) {
      throw new UnavailableError(
        'home.busy',
        'another stillroom process works on this home; try again when it has ended',
      );
    }
    await setTimeout(LOCK_POLL_MS);
    lock = lockFile(path);
  }
  try {
    return await work();
  } finally {
    lock.close();
  }
}

function lockFile(path: string): DatabaseSync | undefined {
  makePrivate(path);
  const file = new DatabaseSync(path, { timeout: 0 });
  try {
    file.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return file;
  } catch (error) {
    file.close();
    if (error instanceof Error && /locked|busy/i.test(error.message)) return undefined;
    throw error;
  }
}

/**
 * SQLite would make a new file readable for all. An existing one is not opened here: closing it again would drop the locks
 * that this process holds on it, as POSIX has it.
 */
function makePrivate(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
}
