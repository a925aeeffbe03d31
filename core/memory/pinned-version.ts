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

/** What of a version may still be shown. */
export type WithForgotten = (opened: OpenedVersion, forgotten: ReadonlySet<string>) => Promise<OpenedVersion>;

/**
 * Opens the current version, or an older one that a caller holds on to (api.md, `?version=`; user case A38). An older one is
 * readable until `LIMITS.historyDays` after the next took its place, whatever of it is still stored. What rests on threads that
 * were forgotten since is given out by nobody (user case A23): `withForgotten` opens such a version, where a function has the means
 * to take it out; without it there is none.
 * @param version absent: the current one
 * @throws NotFoundError as `openVersion`; `memory.version_expired`, `memory.version_withheld`
 */
export async function openPinned(
  ports: PinPorts,
  userKey: string,
  version?: number,
  withForgotten: WithForgotten = withhold,
): Promise<OpenedVersion> {
  const opened = await openVersion(ports, userKey, version);
  if (opened.supersededAt === null) return opened;
  if (opened.supersededAt < ports.clock.now() - LIMITS.historyDays * DAY_MS) throw expired(opened.version);
  const forgotten = await findForgotten(ports, userKey, opened);
  return forgotten.length === 0 ? opened : withForgotten(opened, new Set(forgotten));
}

/** The threads that a version rests on and that were forgotten since, by id ascending. */
export async function findForgotten(
  ports: PinPorts,
  userKey: string,
  { manifest }: OpenedVersion,
): Promise<readonly string[]> {
  const ids = manifest?.inputs.map((input) => input.threadId) ?? [];
  if (ids.length === 0) return [];
  const threads = await ports.threads.getMany(userKey, ids);
  return ids.filter((threadId) => (threads.get(threadId)?.forgottenAt ?? null) !== null);
}

async function withhold({ version }: OpenedVersion): Promise<OpenedVersion> {
  throw new NotFoundError(
    'memory.version_withheld',
    `version ${version} rests on a thread that was forgotten since; read the present version`,
    { details: { version } },
  );
}
