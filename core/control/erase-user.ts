import { UnavailableError } from '../errors.ts';
import type { Job } from '../job/job.ts';
import { isHeld } from '../job/new-job.ts';
import type { Clock } from '../ports/clock.ts';
import type { EraseMarks } from '../ports/erase-marks.ts';
import type { HeadStore } from '../ports/head-store.ts';
import type { JobStore } from '../ports/job-store.ts';
import { NO_TRACES, type TraceCounts, type UserTraces } from '../ports/user-traces.ts';
import { SECOND_MS } from '../time.ts';

export interface ErasePorts {
  readonly heads: Pick<HeadStore, 'reset'>;
  readonly jobs: Pick<JobStore, 'get' | 'listExtractions' | 'clear'>;
  /** Of every technology that keeps something of a user. */
  readonly traces: readonly UserTraces[];
  readonly marks: EraseMarks;
  readonly clock: Clock;
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
 *
 * A run that is under way cannot commit any more, but what it is just writing (a text, a file, a count of tokens) may land
 * after the stores were cleared, up to the end of its lease. So there is no receipt while one may: everything is erased, a
 * mark says until when, and the same call after that erases what came and the mark.
 * @returns what was removed
 * @throws UnavailableError `erase.runs_in_flight` with `retry_after_ms`: erased, but not yet proven
 * @throws UnavailableError `erase.incomplete` when something is still found after several rounds; repeating goes on from there
 */
export async function eraseUser(ports: ErasePorts, userKey: string): Promise<TraceCounts> {
  await markRuns(ports, userKey); // before anything goes: once the jobs are cleared nobody can tell
  await ports.heads.reset(userKey);
  await ports.jobs.clear(userKey);
  let removed = NO_TRACES;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const until = await markRuns(ports, userKey); // again: something may have begun meanwhile
    for (const traces of ports.traces) removed = add(removed, await traces.erase(userKey));
    if (until !== null) throw runsInFlight(until - ports.clock.now());
    await ports.marks.remove(userKey);
    if (isNothing(await countTraces(ports, userKey))) return removed;
  }
  throw new UnavailableError('erase.incomplete', 'something is still being written; erase again in a few minutes', {
    details: { rounds: MAX_ROUNDS },
  });
}

/**
 * Marks until when runs that are under way may write; an earlier mark counts as long as its time is not over.
 * @returns ms since the epoch; null when nothing runs
 */
async function markRuns({ jobs, marks, clock }: ErasePorts, userKey: string): Promise<number | null> {
  const now = clock.now();
  const marked = (await marks.read(userKey)) ?? 0;
  const known = [...(await jobs.listExtractions(userKey)).values(), await jobs.get(userKey, { kind: 'consolidation' })];
  const until = known.reduce((latest, job) => Math.max(latest, leaseEnd(job, now)), marked);
  if (until > marked) await marks.write(userKey, until);
  return until > now ? until : null;
}

/** 0 for a job that does not run, or whose lease is over. */
function leaseEnd(job: Job | undefined, now: number): number {
  return job !== undefined && isHeld(job, now) ? (job.leaseUntil ?? 0) : 0;
}

function runsInFlight(leftMs: number): UnavailableError {
  const waitMs = Math.max(SECOND_MS, leftMs);
  const message = `everything stored was erased; ask again in ${Math.ceil(waitMs / SECOND_MS)} s for the receipt: work that was under way may still write until then`;
  return new UnavailableError('erase.runs_in_flight', message, { details: { retry_after_ms: waitMs } });
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
