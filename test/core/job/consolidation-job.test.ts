import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claimConsolidation, consolidationDueAt } from '../../../core/job/claim-consolidation.ts';
import { completeConsolidation, extendLease, failJob } from '../../../core/job/end-job.ts';
import type { Job } from '../../../core/job/job.ts';
import { enqueueConsolidation } from '../../../core/job/revive-job.ts';
import { HOUR_MS, SECOND_MS } from '../../../core/time.ts';
import { sampleJob } from '../../support/sample-state.ts';

/** Plays a user's consolidation job. Times are seconds; the lease is 3,600 s. */
class ConsolidationPlay {
  job: Job | undefined;
  #count = 0;

  enqueue(...watermarks: readonly number[]): this {
    for (const watermark of watermarks) this.job = enqueueConsolidation(this.job, watermark);
    return this;
  }

  claim(at = 0, immediate = false): string {
    this.#count += 1;
    const request = { token: `k${this.#count}`, now: at * SECOND_MS, leaseMs: HOUR_MS, immediate };
    const { claim, job } = claimConsolidation(this.job, request);
    this.job = job ?? this.job;
    return claim.kind === 'claimed' ? `claimed ${claim.inputWatermark}` : claim.reason;
  }

  succeed(at = 0, watermark = 0, token = this.job?.token ?? ''): boolean {
    return this.#store(completeConsolidation(this.job, token, at * SECOND_MS, watermark));
  }

  fail(at = 0, retry: number | 'never' = HOUR_MS, token = this.job?.token ?? ''): boolean {
    const failure = { now: at * SECOND_MS, reason: 'x', outcome: null, retry, spendsRetry: true };
    return this.#store(failJob('consolidation', this.job, token, failure));
  }

  heartbeat(at: number, token: string): boolean {
    return this.#store(extendLease(this.job, token, { now: at * SECOND_MS, leaseMs: HOUR_MS }));
  }

  /** Seconds. */
  dueAt(): number | null {
    const due = consolidationDueAt(this.job);
    return due === null ? null : due / SECOND_MS;
  }

  #store(job: Job | undefined): boolean {
    this.job = job ?? this.job;
    return job !== undefined;
  }
}

const start = () => new ConsolidationPlay();

describe('a consolidation claim', () => {
  it('creates the job running with watermark 0 (F-01)', () => {
    const play = start();
    expect(play.claim(5)).toBe('claimed 0');
    expect(play.job).toMatchObject({ status: 'running', startedAt: 5_000, leaseUntil: 3_605_000, inputWatermark: 0 });
  });

  it.each<[string, string, (play: ConsolidationPlay) => unknown]>([
    ['TC-129 a second before the cooldown ends', 'cooldown', (p) => [p.claim(), p.succeed(10), p.claim(21_609)].at(-1)],
    ['TC-129 when the cooldown ends', 'claimed 0', (p) => [p.claim(), p.succeed(10), p.claim(21_610)].at(-1)],
    [
      'TC-130 after success and enqueue',
      'cooldown',
      (p) => [p.claim(), p.succeed(10), p.enqueue(50), p.claim(11)].at(-1),
    ],
    ['TC-131 before the retry', 'retry_unavailable', (p) => [p.claim(), p.fail(10), p.claim(3_609)].at(-1)],
    ['TC-131 at the retry, no cooldown', 'claimed 0', (p) => [p.claim(), p.fail(10), p.claim(3_610)].at(-1)],
    ['TC-132 failure, then enqueue', 'claimed 50', (p) => [p.claim(), p.fail(10), p.enqueue(50), p.claim(10)].at(-1)],
    ['TC-140 after outputs at 100 and 101', 'claimed 101', (p) => p.enqueue(100, 101).claim()],
    [
      'TC-134 after the lease, with the stored watermark',
      'claimed 300',
      (p) => [p.enqueue(300), p.claim(), p.claim(3_600)].at(-1),
    ],
    ['while it runs', 'running', (p) => [p.claim(), p.claim(3_599)].at(-1)],
    ['at once, in the cooldown (DV-9)', 'claimed 0', (p) => [p.claim(), p.succeed(10), p.claim(11, true)].at(-1)],
    ['at once, before the retry', 'claimed 0', (p) => [p.claim(), p.fail(10), p.claim(11, true)].at(-1)],
    ['at once, while it runs', 'running', (p) => [p.claim(), p.claim(1, true)].at(-1)],
    [
      'after a failure that must not be retried',
      'retry_unavailable',
      (p) => [p.claim(), p.fail(0, 'never'), p.claim(1e9)].at(-1),
    ],
    ['the same, asked for at once', 'claimed 0', (p) => [p.claim(), p.fail(0, 'never'), p.claim(1, true)].at(-1)],
    [
      'the same, after an enqueue',
      'claimed 7',
      (p) => [p.claim(), p.fail(0, 'never'), p.enqueue(7), p.claim(1)].at(-1),
    ],
  ])('%s: %s', (_case, expected, steps) => {
    expect(steps(start())).toBe(expected);
  });

  it('TC-130 TC-132 leaves the job pending meanwhile, with a full budget', () => {
    const play = start();
    play.claim();
    play.succeed(10);
    expect(play.enqueue(50).job?.status).toBe('pending');
    const failed = start();
    failed.claim();
    failed.fail(10);
    expect(failed.job?.retryRemaining).toBe(2);
    expect(failed.enqueue(50).job).toMatchObject({ status: 'pending', retryAt: null, retryRemaining: 3 });
  });

  it('is not stopped by a used-up budget, which stays at 0 (F-06)', () => {
    const play = start();
    for (let round = 0; round < 9; round++) {
      expect(play.claim(round)).toBe('claimed 0');
      play.fail(round, 0);
    }
    expect(play.job?.retryRemaining).toBe(0);
  });

  it.each<[string, Partial<Job>]>([
    ['pending without a lease', { status: 'pending' }],
    ['running with a lease that has ended', { status: 'running', token: 'dead', leaseUntil: 100 }],
    ['running without any lease', { status: 'running', token: 'dead', leaseUntil: null }],
    ['failed with its retry time passed', { status: 'error', retryAt: 100, lastError: 'x', finishedAt: 50 }],
  ])('takes a job that is %s on the next tick (A6)', (_state, given) => {
    const job = sampleJob({ inputWatermark: 5, successWatermark: 1, ...given });
    const request = { token: 'k', now: 100, leaseMs: 1 };
    expect(claimConsolidation(job, request).claim).toMatchObject({ kind: 'claimed', inputWatermark: 5 });
    expect(consolidationDueAt(job)).toBeLessThanOrEqual(100);
  });
});

describe('the ownership of a consolidation', () => {
  it('TC-134 passes to the one who takes over', () => {
    const play = start();
    play.claim();
    play.claim(3_600);
    expect([play.succeed(3_601, 0, 'k1'), play.succeed(3_601, 0, 'k2')]).toEqual([false, true]);
  });

  it('TC-135 holds on after the lease until somebody takes over', () => {
    const play = start();
    play.claim();
    expect(play.heartbeat(5_000, 'k1')).toBe(true);
    expect(play.job?.leaseUntil).toBe(8_600_000);
    expect(play.succeed(5_001, 0, 'k1')).toBe(true);
  });

  it('TC-136 refuses a heartbeat of the old token after a takeover', () => {
    const play = start();
    play.claim();
    play.claim(3_600);
    expect(play.heartbeat(3_601, 'k1')).toBe(false);
  });

  it('TC-141 without a token: no success, but anybody may record the failure, and the retry waits', () => {
    const play = start();
    play.claim();
    play.job = play.job && { ...play.job, token: null };
    expect([play.succeed(1, 0, 'k1'), play.heartbeat(1, 'k1'), play.fail(1, HOUR_MS, 'k1')]).toEqual([
      false,
      false,
      true,
    ]);
    expect(play.claim(2)).toBe('retry_unavailable');
    expect(failJob('extraction', sampleJob({ status: 'running' }), 'k', failure())).toBeUndefined();
    expect(failJob('consolidation', sampleJob({ status: 'done' }), 'k', failure())).toBeUndefined();
  });
});

describe('the watermark of a consolidation', () => {
  it.each<[readonly number[], number]>([
    [[100, 100], 101],
    [[0, 0], 1],
    [[500, 400], 501],
    [[100, 50, 60, 200], 200],
    [[100, 50, 60], 102],
  ])('TC-139 enqueue %j => %i', (watermarks, expected) => {
    expect(start().enqueue(...watermarks).job?.inputWatermark).toBe(expected);
  });

  it('TC-137 rises while the job goes on running, and success leaves the late input due (DV-9)', () => {
    const play = start();
    play.claim(0);
    expect(play.enqueue(70).job).toMatchObject({ status: 'running', inputWatermark: 70 });
    play.succeed(10, 0);
    expect(play.job).toMatchObject({ status: 'done', successWatermark: 0, inputWatermark: 70 });
    expect(play.dueAt()).toBe(21_610);
  });

  it('stays above the success also when the run reports a higher one than the late input has', () => {
    const play = start().enqueue(100);
    play.claim(0);
    play.enqueue(200);
    play.succeed(10, 900);
    expect(play.job).toMatchObject({ successWatermark: 900, inputWatermark: 901 });
    expect(play.dueAt()).toBe(21_610);
    expect(play.claim(21_610)).toBe('claimed 901');
    play.succeed(21_611, 901);
    expect(play.dueAt()).toBeNull();
  });

  it('of success never falls (F-13)', () => {
    const play = start().enqueue(100);
    play.claim(0);
    play.succeed(1, 100);
    play.claim(99_999);
    play.succeed(99_999, 50);
    expect(play.job?.successWatermark).toBe(100);
  });

  it('that arrived during a run that must not be retried is tried at once', () => {
    const play = start().enqueue(100);
    play.claim(0);
    play.enqueue(200);
    play.fail(5, 'never');
    expect(play.dueAt()).toBe(5);
    expect(play.claim(5)).toBe('claimed 200');
  });
});

describe('when the next run is due', () => {
  it('is never, without a job, after a run that took everything, or after a failure for good', () => {
    expect(start().dueAt()).toBeNull();
    const done = start().enqueue(100);
    done.claim(0);
    done.succeed(1, 100);
    expect(done.dueAt()).toBeNull();
    const dead = start().enqueue(100);
    dead.claim(0);
    dead.fail(1, 'never');
    expect(dead.dueAt()).toBeNull();
  });

  it('is at the end of the lease, of the retry delay, of the cooldown, or now', () => {
    expect(start().enqueue(1).dueAt()).toBe(0);
    const play = start().enqueue(1);
    play.claim(10);
    expect(play.dueAt()).toBe(3_610);
    play.fail(20);
    expect(play.dueAt()).toBe(3_620);
    play.claim(3_620);
    play.succeed(4_000, 1);
    expect(play.enqueue(2).dueAt()).toBe(25_600);
  });

  it('no input is ever forgotten, whatever happens in which order', () => {
    const event = fc.constantFrom('enqueue', 'claim', 'succeed', 'fail', 'crash');
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        const play = start();
        let at = 0;
        let seen = 0; // enqueues so far
        let covered = 0; // enqueues that the running claim came after
        let done = 0; // enqueues that a successful run came after
        for (const what of events) {
          at += 100_000; // every wait is over
          if (what === 'enqueue') {
            play.enqueue(7);
            seen += 1;
          } else if (what === 'claim' && play.claim(at).startsWith('claimed')) covered = seen;
          else if (what === 'succeed' && play.succeed(at, play.job?.inputWatermark ?? 0)) done = covered;
          else if (what === 'fail') play.fail(at);
        }
        if (seen > done) expect(play.dueAt()).not.toBeNull();
      }),
    );
  });
});

function failure() {
  return { now: 0, reason: 'x', outcome: null, retry: 0, spendsRetry: true } as const;
}
