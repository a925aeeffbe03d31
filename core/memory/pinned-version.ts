import { NotFoundError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { HeadStore } from '../ports/head-store.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import type { ThreadStore } from '../ports/thread-store.ts';
import { LIMITS } from '../settings.ts';
import { DAY_MS } from '../time.ts';
import { expired, type OpenedVersion, openVersion } from './memory-files.ts';

export interface PinPorts {
  readonly heads: Pick<HeadStore, 'read'>;
  readonly memories: Pick<MemoryStore, 'manifest' | 'readFile'>;
  readonly threads: Pick<ThreadStore, 'getMany'>;
  readonly clock: Clock;
}

/**
 * Opens the current version, or an older one that a caller holds on to (api.md, `?version=`; user case A38). An older one is
 * readable until `LIMITS.historyDays` after the next took its place, whatever of it is still stored, and never again once a
 * thread that it rests on was forgotten (user case A23).
 * @param version absent: the current one
 * @throws NotFoundError as `openVersion`; `memory.version_expired`, `memory.version_withheld`
 */
export async function openPinned(ports: PinPorts, userKey: string, version?: number): Promise<OpenedVersion> {
  const opened = await openVersion(ports, userKey, version);
  if (opened.supersededAt === null) return opened;
  if (opened.supersededAt < ports.clock.now() - LIMITS.historyDays * DAY_MS) throw expired(opened.version);
  const forgotten = await findForgotten(ports, userKey, opened);
  if (forgotten.length > 0) throw withheld(opened.version);
  return opened;
}

/** The threads that a version rests on and that were forgotten since, by id ascending. */
async function findForgotten(
  ports: PinPorts,
  userKey: string,
  { manifest }: OpenedVersion,
): Promise<readonly string[]> {
  const ids = manifest?.inputs.map((input) => input.threadId) ?? [];
  if (ids.length === 0) return [];
  const threads = await ports.threads.getMany(userKey, ids);
  return ids.filter((threadId) => (threads.get(threadId)?.forgottenAt ?? null) !== null);
}

function withheld(version: number): NotFoundError {
  return new NotFoundError(
    'memory.version_withheld',
    `version ${version} rests on a thread that was forgotten since; read the present version`,
    { details: { version } },
  );
}
