import { UnavailableError } from '../errors.ts';
import type { HeadStore } from '../ports/head-store.ts';
import type { JobStore } from '../ports/job-store.ts';
import { NO_TRACES, type TraceCounts, type UserTraces } from '../ports/user-traces.ts';

export interface ErasePorts {
  readonly heads: Pick<HeadStore, 'reset'>;
  readonly jobs: Pick<JobStore, 'clear'>;
  /** Of every technology that keeps something of a user. */
  readonly traces: readonly UserTraces[];
}

/** A run that was in flight may still write a little after the first round. */
const MAX_ROUNDS = 5;

/** Everything that is kept of a user, counted. */
export async function countTraces(ports: Pick<ErasePorts, 'traces'>, userKey: string): Promise<TraceCounts> {
  let total = NO_TRACES;
  for (const traces of ports.traces) total = add(total, await traces.count(userKey));
  return total;
}

/**
 * Erases a user (storage.md, "Erase"; DV-18): first whatever could still commit loses its right to, then every store removes
 * all it has, every version of it, until a count finds nothing. What waits in a queue holds ids only, and finds nothing when
 * its turn comes.
 * @returns what was removed
 * @throws UnavailableError `erase.incomplete` when something is still found after several rounds; repeating goes on from there
 */
export async function eraseUser(ports: ErasePorts, userKey: string): Promise<TraceCounts> {
  await ports.heads.reset(userKey);
  await ports.jobs.clear(userKey);
  let removed = NO_TRACES;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    for (const traces of ports.traces) removed = add(removed, await traces.erase(userKey));
    if (isNothing(await countTraces(ports, userKey))) return removed;
  }
  throw new UnavailableError('erase.incomplete', 'something is still being written; erase again in a few minutes', {
    details: { rounds: MAX_ROUNDS },
  });
}

function isNothing({ objects, versions, items }: TraceCounts): boolean {
  return objects + versions + items === 0;
}

function add(left: TraceCounts, right: TraceCounts): TraceCounts {
  return {
    objects: left.objects + right.objects,
    versions: left.versions + right.versions,
    items: left.items + right.items,
  };
}
