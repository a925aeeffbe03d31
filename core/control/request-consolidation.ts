import type { Head, Manifest } from '../consolidation/manifest.ts';
import { loadVersionChain } from '../consolidation/version-chain.ts';
import { NotFoundError } from '../errors.ts';
import type { Job } from '../job/job.ts';
import type { Clock } from '../ports/clock.ts';
import type { ConsolidationStarter } from '../ports/consolidation-starter.ts';
import type { HeadStore } from '../ports/head-store.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import { LIMITS } from '../settings.ts';
import { DAY_MS, toFileTime } from '../time.ts';

/** So many resets within one step are told apart, ms: below what any run takes. */
const EPOCH_NAMES = 100;

/** How a consolidation that was asked for is doing, as the wire shows it. */
export interface ConsolidationAnswer {
  readonly id: string;
  readonly requested_at: string;
  readonly status: 'pending' | 'running' | 'done' | 'error';
  readonly last_error: string | null;
  /** The version made; null while there is none, and where nothing was to be changed. */
  readonly version: number | null;
  readonly counts: { readonly inputs: number; readonly removed: number; readonly files: number } | null;
}

export interface RequestConsolidationPorts {
  readonly consolidations: ConsolidationStarter;
  readonly jobs: Pick<JobStore, 'get'>;
  readonly heads: Pick<HeadStore, 'read'>;
  readonly clock: Clock;
}

/**
 * Asks for a consolidation now, without the cooldown, and does not wait for it (user case C18). Two requests within
 * `LIMITS.sameRequestMs` are one run, unless a run or the memory itself ended between them; the lock lets one run at a time.
 * @returns the id that `findConsolidation` knows it by
 */
export async function requestConsolidation(ports: RequestConsolidationPorts, userKey: string): Promise<string> {
  const [job, head] = await Promise.all([
    ports.jobs.get(userKey, { kind: 'consolidation' }),
    ports.heads.read(userKey),
  ]);
  const dueAt = nameRequest(job, head, ports.clock.now());
  await ports.consolidations.start({ userKey, dueAt, immediate: true });
  return String(dueAt);
}

/**
 * The time that a request goes by, which names its run: a name that ran once never runs again. It is the start of a step of
 * `LIMITS.sameRequestMs`, moved by the epoch, since a reset forgets the job that ran. Where a run ended in the step already,
 * it is the moment after that end; while the next one is at work, the moment that one began.
 */
function nameRequest(job: Job | undefined, head: Head, now: number): number {
  const step = now - (now % LIMITS.sameRequestMs);
  const first = step + (head.epoch % EPOCH_NAMES);
  const endedAt = job?.finishedAt ?? 0;
  if (endedAt >= step) return Math.max(endedAt, first) + 1;
  const startedAt = job?.status === 'running' ? (job.startedAt ?? 0) : 0;
  const madeAt = head.publishedAt ?? 0;
  return madeAt >= first && startedAt > madeAt ? startedAt : first;
}

export interface FindConsolidationPorts {
  readonly jobs: Pick<JobStore, 'get'>;
  readonly heads: Pick<HeadStore, 'read'>;
  readonly memories: Pick<MemoryStore, 'manifest'>;
  readonly clock: Clock;
}

/**
 * Tells of the first run that ended after it was asked for, for a day. Nothing is stored of a request: its id is its time, and
 * a run that was under way already counts as its answer.
 * @throws NotFoundError `consolidation.not_found` for what is no id of a request that was made
 */
export async function findConsolidation(
  ports: FindConsolidationPorts,
  userKey: string,
  id: string,
): Promise<ConsolidationAnswer> {
  const askedAt = readId(id, ports.clock.now());
  const [job, head] = await Promise.all([
    ports.jobs.get(userKey, { kind: 'consolidation' }),
    ports.heads.read(userKey),
  ]);
  const chain = await loadVersionChain(ports.memories, userKey, head.version, ({ createdAt }) => createdAt < askedAt);
  const made = chain.findLast(({ reason, createdAt }) => reason === 'consolidation' && createdAt >= askedAt);
  return {
    id,
    requested_at: toFileTime(askedAt),
    ...stateOf(job, made, { askedAt, now: ports.clock.now() }),
    version: made?.version ?? null,
    counts: made === undefined ? null : countsOf(made),
  };
}

function stateOf(
  job: Job | undefined,
  made: Manifest | undefined,
  at: { readonly askedAt: number; readonly now: number },
): Pick<ConsolidationAnswer, 'status' | 'last_error'> {
  if (made !== undefined) return { status: 'done', last_error: null };
  if (job?.status === 'running' && (job.leaseUntil ?? 0) > at.now) return { status: 'running', last_error: null };
  const ended = job !== undefined && job.finishedAt !== null && job.finishedAt >= at.askedAt;
  if (!ended) return { status: 'pending', last_error: null };
  return job.lastError === null ? { status: 'done', last_error: null } : { status: 'error', last_error: job.lastError };
}

function countsOf(manifest: Manifest): ConsolidationAnswer['counts'] {
  return {
    inputs: manifest.inputs.length,
    removed: manifest.removed.length,
    files: Object.keys(manifest.files).length,
  };
}

function readId(id: string, now: number): number {
  const time = /^\d{13}$/.test(id) ? Number(id) : Number.NaN;
  // A name may be a little ahead: the clock of a run that ended need not be the one that is asked now.
  if (time <= now + LIMITS.sameRequestMs && time > now - DAY_MS) return time;
  throw new NotFoundError('consolidation.not_found', 'no consolidation was asked for under this id');
}
