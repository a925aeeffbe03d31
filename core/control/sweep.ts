import { StillroomError, UnavailableError } from '../errors.ts';
import type { JobKey } from '../job/job.ts';
import type { Clock } from '../ports/clock.ts';
import type { ConsolidationStarter } from '../ports/consolidation-starter.ts';
import type { DueIndex, DueJob } from '../ports/due-index.ts';
import type { JobMessage, JobQueue } from '../ports/job-queue.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { LIMITS } from '../settings.ts';

export interface SweepPorts {
  readonly due: DueIndex;
  readonly queue: JobQueue;
  readonly consolidations: ConsolidationStarter;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

export interface SweepLimits {
  /** Most jobs of each kind that one pass hands on; it also ends after as many that it could not hand on. */
  readonly maxJobs: number;
  /** Asked before each page: false ends the pass. */
  readonly hasTime: () => boolean;
}

/** What a pass did. What it left is still due and comes first in the next one. */
export interface SweepReport {
  readonly extractions: number;
  readonly consolidations: number;
  /** Jobs that could not be handed on; they stay due. */
  readonly failed: number;
  /** Entries of the index that name no job: passed over, found again by the next pass. */
  readonly unreadable: number;
  /** Shards that could not be asked, counted for each kind. */
  readonly unreachable: number;
  /** False when a limit or a shard that could not be asked ended it early: due jobs may be left behind. */
  readonly complete: boolean;
}

const BATCH = 10;

/**
 * One pass over all that is due (storage.md, "SQS and schedule"): extractions are sent to the queue in batches of 10,
 * consolidations are started, one a user. What was handed on leaves the index for a while, so that a backlog is not queued
 * anew by every pass. The first shard changes from pass to pass, so that none starves.
 * A batch that cannot be handed on, an entry that cannot be read and a shard that cannot be asked are counted and told, and
 * keep nothing else back.
 * @throws UnavailableError of the index where no shard at all could be asked
 */
export async function sweep(ports: SweepPorts, limits: SweepLimits): Promise<SweepReport> {
  const now = ports.clock.now();
  const first = Math.floor(now / LIMITS.sweepEveryMs) % ports.due.shards;
  const totals = { consolidation: newTotal(), extraction: newTotal() };
  let complete = true;
  let failure: UnavailableError | undefined;
  for (const kind of ['consolidation', 'extraction'] as const) {
    for (let step = 0; step < ports.due.shards; step++) {
      const shard = (first + step) % ports.due.shards;
      const total = totals[kind];
      try {
        const ended = await sweepShard(ports, { kind, shard, now, total }, limits);
        complete &&= ended;
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        ports.telemetry.event('warn', 'sweep.shard_unreachable', { kind, shard, code: error.code });
        total.unreachable++;
        failure = error;
      }
    }
  }
  const { consolidation, extraction } = totals;
  const unreachable = consolidation.unreachable + extraction.unreachable;
  if (failure !== undefined && unreachable === 2 * ports.due.shards) throw failure;
  return {
    extractions: extraction.handedOn,
    consolidations: consolidation.handedOn,
    failed: consolidation.failed + extraction.failed,
    unreadable: consolidation.unreadable + extraction.unreadable,
    unreachable,
    complete: complete && unreachable === 0,
  };
}

/** Of all shards so far, of one kind. */
interface Total {
  handedOn: number;
  failed: number;
  unreadable: number;
  unreachable: number;
}

function newTotal(): Total {
  return { handedOn: 0, failed: 0, unreadable: 0, unreachable: 0 };
}

interface ShardPass {
  readonly kind: JobKey['kind'];
  readonly shard: number;
  readonly now: number;
  /** Counted on. */
  readonly total: Total;
}

/** @returns false when a limit ended it */
async function sweepShard(ports: SweepPorts, pass: ShardPass, limits: SweepLimits): Promise<boolean> {
  const { kind, shard, now, total } = pass;
  let after: string | null = null;
  do {
    const limit = Math.min(BATCH, limits.maxJobs - total.handedOn);
    if (limit <= 0 || total.failed >= limits.maxJobs || !limits.hasTime()) return false;
    const page = await ports.due.due({ kind, shard, now, limit, after });
    if (page.unreadable > 0) {
      ports.telemetry.event('error', 'sweep.unreadable', { kind, shard, entries: page.unreadable });
      total.unreadable += page.unreadable;
    }
    const sent = await handOn(ports, kind, page.jobs, now);
    total.handedOn += sent;
    total.failed += page.jobs.length - sent;
    after = page.next;
  } while (after !== null);
  return true;
}

/** @returns how many were handed on */
async function handOn(ports: SweepPorts, kind: JobKey['kind'], jobs: readonly DueJob[], now: number): Promise<number> {
  if (kind === 'extraction') return (await attempt(ports, () => queueAll(ports, jobs, now))) ? jobs.length : 0;
  let started = 0;
  for (const job of jobs) if (await attempt(ports, () => startOne(ports, job, now))) started++;
  return started;
}

async function queueAll(ports: SweepPorts, jobs: readonly DueJob[], now: number): Promise<void> {
  const messages = jobs.flatMap(({ userKey, key }): JobMessage[] =>
    key.kind === 'extraction' ? [{ kind: 'thread-due', userKey, threadId: key.threadId }] : [],
  );
  if (messages.length > 0) await ports.queue.send(messages);
  await Promise.all(jobs.map((job) => ports.due.postpone(job, now + LIMITS.handedOnMs)));
}

async function startOne(ports: SweepPorts, job: DueJob, now: number): Promise<void> {
  await ports.consolidations.start({ userKey: job.userKey, dueAt: job.dueAt, immediate: false });
  await ports.due.postpone(job, now + LIMITS.handedOnMs);
}

/** One batch that fails must not keep the others back: it is counted, told, and still due. */
async function attempt(ports: SweepPorts, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof StillroomError)) throw error;
    ports.telemetry.event('warn', 'sweep.not_handed_on', { code: error.code });
    return false;
  }
}
