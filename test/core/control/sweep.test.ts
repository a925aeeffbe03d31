import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SweepLimits, type SweepReport, sweep } from '../../../core/control/sweep.ts';
import { UnavailableError } from '../../../core/errors.ts';
import type { DueIndex, DueJob, DuePage, DueQuery } from '../../../core/ports/due-index.ts';
import type { JobMessage, JobQueue } from '../../../core/ports/job-queue.ts';
import { LIMITS } from '../../../core/settings.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { RecordingConsolidationStarter } from '../../doubles/recording-consolidation-starter.ts';
import { RecordingTelemetry } from '../../doubles/recording-telemetry.ts';
import { NOW } from '../../support/sample-state.ts';

/** Due jobs in shards that the test chooses. */
class ShardedDue implements DueIndex {
  readonly shards: number;
  readonly jobs: { readonly shard: number; job: DueJob }[] = [];
  readonly asked: DueQuery[] = [];
  /** Entries that name no job, on every page of a shard. */
  readonly unreadable = new Map<number, number>();
  readonly failing = new Map<number, Error>();

  constructor(shards: number) {
    this.shards = shards;
  }

  add(shard: number, kind: 'extraction' | 'consolidation', names: readonly string[], dueAt = NOW): void {
    for (const name of names) {
      const job: DueJob =
        kind === 'extraction'
          ? { userKey: `u${shard}`, key: { kind, threadId: name }, dueAt }
          : { userKey: name, key: { kind }, dueAt };
      this.jobs.push({ shard, job });
    }
  }

  async due(query: DueQuery): Promise<DuePage> {
    this.asked.push(query);
    const failure = this.failing.get(query.shard);
    if (failure !== undefined) throw failure;
    const left = this.jobs
      .filter(({ shard, job }) => shard === query.shard && job.key.kind === query.kind && job.dueAt <= query.now)
      .map(({ job }) => job)
      .sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
      .filter((job) => query.after === null || placeOf(job) > query.after);
    const jobs = left.slice(0, query.limit);
    const last = jobs.at(-1);
    return {
      jobs,
      unreadable: this.unreadable.get(query.shard) ?? 0,
      next: left.length > jobs.length && last !== undefined ? placeOf(last) : null,
    };
  }

  async postpone(job: DueJob, until: number): Promise<boolean> {
    const entry = this.jobs.find((known) => known.job === job);
    if (entry === undefined) return false;
    entry.job = { ...job, dueAt: until };
    return true;
  }

  left(now: number): readonly DueJob[] {
    return this.jobs.filter(({ job }) => job.dueAt <= now).map(({ job }) => job);
  }
}

function placeOf({ dueAt, userKey, key }: DueJob): string {
  return `${String(dueAt).padStart(16, '0')}/${userKey}/${key.kind === 'extraction' ? key.threadId : ''}`;
}

/** Keeps batches; fails those that hold a thread named in `failing`. */
class RecordingQueue implements JobQueue {
  readonly batches: (readonly JobMessage[])[] = [];
  readonly failing = new Set<string>();
  readonly #error: Error;

  constructor(error: Error = new UnavailableError('queue.send_failed', 'no')) {
    this.#error = error;
  }

  async send(messages: readonly JobMessage[]): Promise<void> {
    if (messages.some((message) => this.failing.has(message.threadId))) throw this.#error;
    this.batches.push(messages);
  }

  get threads(): readonly string[] {
    return this.batches.flat().map((message) => message.threadId);
  }
}

function makeWorld(shards = 1, queue = new RecordingQueue()) {
  return {
    due: new ShardedDue(shards),
    queue,
    consolidations: new RecordingConsolidationStarter(),
    clock: new FixedClock(NOW),
    telemetry: new RecordingTelemetry(),
  };
}

const NOTHING: SweepReport = {
  extractions: 0,
  consolidations: 0,
  failed: 0,
  unreadable: 0,
  unreachable: 0,
  complete: true,
};
const ALL: SweepLimits = { maxJobs: 1_000, hasTime: () => true };
const names = (count: number, prefix = 't') =>
  Array.from({ length: count }, (_, at) => `${prefix}${String(at).padStart(3, '0')}`);

describe('a sweep', () => {
  it('hands on what is due and nothing else: extractions in batches of 10, consolidations one a user', async () => {
    const world = makeWorld(2);
    world.due.add(0, 'extraction', names(23));
    world.due.add(1, 'extraction', ['later'], NOW + 1);
    world.due.add(1, 'consolidation', ['ann', 'bob'], NOW - 5);
    expect(await sweep(world, ALL)).toEqual({ ...NOTHING, extractions: 23, consolidations: 2, failed: 0 });
    expect(world.queue.batches.map((batch) => batch.length)).toEqual([10, 10, 3]);
    expect(world.queue.batches[0]?.[0]).toEqual({ kind: 'thread-due', userKey: 'u0', threadId: 't000' });
    expect(world.consolidations.started).toEqual([
      { userKey: 'ann', dueAt: NOW - 5, immediate: false },
      { userKey: 'bob', dueAt: NOW - 5, immediate: false },
    ]);
  });

  it('costs one question a shard and kind when nothing is due', async () => {
    const world = makeWorld(16);
    expect(await sweep(world, ALL)).toEqual(NOTHING);
    expect(world.due.asked).toHaveLength(32);
    expect(world.queue.batches).toEqual([]);
  });

  it('does not hand a backlog on again until it has had its time', async () => {
    const world = makeWorld();
    world.due.add(0, 'extraction', names(12));
    world.due.add(0, 'consolidation', ['ann']);
    await sweep(world, ALL);
    for (let at = LIMITS.sweepEveryMs; at < LIMITS.handedOnMs; at += LIMITS.sweepEveryMs) {
      world.clock.set(NOW + at);
      expect(await sweep(world, ALL)).toMatchObject({ extractions: 0, consolidations: 0 });
    }
    world.clock.set(NOW + LIMITS.handedOnMs);
    expect(await sweep(world, ALL)).toMatchObject({ extractions: 12, consolidations: 1 });
  });

  it('hands on no more than its limit, and the next pass goes on where it stopped', async () => {
    const world = makeWorld();
    world.due.add(0, 'extraction', names(25));
    const limits = { ...ALL, maxJobs: 12 };
    expect(await sweep(world, limits)).toMatchObject({ extractions: 12, complete: false });
    expect(await sweep(world, limits)).toMatchObject({ extractions: 12, complete: false });
    expect(await sweep(world, limits)).toMatchObject({ extractions: 1, complete: true });
    expect(world.queue.threads).toEqual(names(25));
  });

  it('ends before the next page when its time is over, and leaves the rest due', async () => {
    const world = makeWorld();
    world.due.add(0, 'extraction', names(25));
    let pages = 2; // one for consolidations
    const limits = { ...ALL, hasTime: () => pages-- > 0 };
    expect(await sweep(world, limits)).toMatchObject({ extractions: 10, complete: false });
    expect(world.due.left(NOW)).toHaveLength(15);
  });

  it('begins with another shard in each pass, so that a full one starves none', async () => {
    const world = makeWorld(4);
    for (let shard = 0; shard < 4; shard++) world.due.add(shard, 'extraction', names(50, `s${shard}-`));
    const firsts: string[] = [];
    for (let pass = 0; pass < 4; pass++) {
      world.clock.set(NOW + pass * LIMITS.sweepEveryMs);
      const before = world.queue.threads.length;
      await sweep(world, { ...ALL, maxJobs: 10 });
      firsts.push(world.queue.threads[before]?.slice(0, 2) ?? '');
    }
    expect(new Set(firsts)).toEqual(new Set(['s0', 's1', 's2', 's3']));
  });

  it('counts a batch that cannot be queued, leaves it due, and goes on with the others', async () => {
    const world = makeWorld(2);
    world.due.add(0, 'extraction', names(30));
    world.due.add(1, 'extraction', ['other']);
    world.queue.failing.add('t015');
    expect(await sweep(world, ALL)).toEqual({ ...NOTHING, extractions: 21, consolidations: 0, failed: 10 });
    expect(world.due.left(NOW)).toHaveLength(10);
    expect(world.telemetry.events).toEqual([
      { level: 'warn', name: 'sweep.not_handed_on', fields: { code: 'queue.send_failed' } },
    ]);
    world.queue.failing.clear();
    expect(await sweep(world, ALL)).toMatchObject({ extractions: 10, failed: 0 });
  });

  it('lets the failed start of one consolidation keep no other one back (B17)', async () => {
    const world = makeWorld();
    world.due.add(0, 'consolidation', ['ann', 'bob', 'cleo']);
    world.consolidations.failing.set('bob', new UnavailableError('consolidation.not_started', 'no'));
    expect(await sweep(world, ALL)).toMatchObject({ consolidations: 2, failed: 1, complete: true });
    expect(world.consolidations.started.map((start) => start.userKey)).toEqual(['ann', 'cleo']);
    expect(world.due.left(NOW).map((job) => job.userKey)).toEqual(['bob']);
  });

  it('ends within its limit of failures when nothing can be handed on at all', async () => {
    const world = makeWorld();
    const threads = names(100);
    world.due.add(0, 'extraction', threads);
    for (const thread of threads) world.queue.failing.add(thread);
    expect(await sweep(world, { ...ALL, maxJobs: 20 })).toEqual({ ...NOTHING, failed: 20, complete: false });
  });

  it('stops at a fault that is none of the world outside', async () => {
    const world = makeWorld(1, new RecordingQueue(new TypeError('a bug')));
    world.due.add(0, 'extraction', ['t']);
    world.queue.failing.add('t');
    await expect(sweep(world, ALL)).rejects.toThrow('a bug');
  });

  it('passes over entries that name no job, tells how many, and hands on the others', async () => {
    const world = makeWorld(2);
    world.due.unreadable.set(0, 2);
    for (const shard of [0, 1]) world.due.add(shard, 'extraction', names(3, `s${shard}-`));
    expect(await sweep(world, ALL)).toEqual({ ...NOTHING, extractions: 6, unreadable: 4 });
    const told = { level: 'error', name: 'sweep.unreadable' };
    expect(world.telemetry.events).toEqual([
      { ...told, fields: { kind: 'consolidation', shard: 0, entries: 2 } },
      { ...told, fields: { kind: 'extraction', shard: 0, entries: 2 } },
    ]);
  });

  it('lets a shard that cannot be asked keep no other one back', async () => {
    const world = makeWorld(4);
    for (let shard = 0; shard < 4; shard++) world.due.add(shard, 'extraction', names(3, `s${shard}-`));
    world.due.add(2, 'consolidation', ['ann']);
    world.due.failing.set(1, new UnavailableError('table.throttled', 'slow down'));
    const report = { ...NOTHING, extractions: 9, consolidations: 1, unreachable: 2, complete: false };
    expect(await sweep(world, ALL)).toEqual(report);
    const fields = { kind: 'extraction', shard: 1, code: 'table.throttled' };
    expect(world.telemetry.events).toContainEqual({ level: 'warn', name: 'sweep.shard_unreachable', fields });
    world.due.failing.clear();
    expect(await sweep(world, ALL)).toMatchObject({ extractions: 3, complete: true });
  });

  it('fails when the index cannot be asked', async () => {
    const world = makeWorld();
    world.due.due = () => Promise.reject(new UnavailableError('table.throttled', 'slow down'));
    await expect(sweep(world, ALL)).rejects.toMatchObject({ code: 'table.throttled' });
  });

  it('hands on every due job exactly once, whatever the shards, the limit and the failures', async () => {
    const shard = fc.record({ jobs: fc.nat({ max: 35 }), failing: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(shard, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 5, max: 40 }),
        async (shards, maxJobs) => {
          const world = makeWorld(shards.length);
          shards.forEach(({ jobs }, at) => {
            world.due.add(at, 'extraction', names(jobs, `s${at}-`));
          });
          shards.forEach(({ failing, jobs }, at) => {
            if (failing && jobs > 0) world.queue.failing.add(`s${at}-000`);
          });
          await sweep(world, { ...ALL, maxJobs });
          world.queue.failing.clear();
          const passes = Math.ceil(world.due.jobs.length / maxJobs) + 1;
          for (let pass = 0; pass < passes; pass++) await sweep(world, { ...ALL, maxJobs });
          expect(world.due.left(NOW)).toEqual([]);
          expect([...world.queue.threads].sort()).toEqual(
            shards.flatMap(({ jobs }, at) => names(jobs, `s${at}-`)).sort(),
          );
        },
      ),
      { numRuns: 40 },
    );
  });
});
