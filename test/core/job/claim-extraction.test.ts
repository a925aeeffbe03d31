import { describe, expect, it } from 'vitest';
import { claimExtraction } from '../../../core/job/claim-extraction.ts';
import { completeExtraction, extendLease, failJob } from '../../../core/job/end-job.ts';
import type { Claim, Failure, Job } from '../../../core/job/job.ts';
import { redriveExtraction } from '../../../core/job/revive-job.ts';
import { LIMITS } from '../../../core/settings.ts';
import { SECOND_MS } from '../../../core/time.ts';
import { sampleJob } from '../../support/sample-state.ts';

/** Plays one extraction job. Times are seconds, watermarks are plain numbers, the lease is 3,600 s unless given. */
class JobPlay {
  job: Job | undefined;
  outputAt: number | null = null;
  #count = 0;

  claim(watermark: number, at = 0, leaseSeconds = 3_600): string {
    this.#count += 1;
    const decision = claimExtraction(this.job, this.outputAt, {
      token: `k${this.#count}`,
      now: at * SECOND_MS,
      leaseMs: leaseSeconds * SECOND_MS,
      watermark,
    });
    this.job = decision.job ?? this.job;
    return name(decision.claim);
  }

  fail(at = 0, given: Partial<Failure> = {}, token = this.job?.token ?? ''): boolean {
    const failure = { now: at * SECOND_MS, reason: 'x', outcome: null, retry: 0, spendsRetry: true, ...given };
    return this.#store(failJob('extraction', this.job, token, failure));
  }

  succeed(token = this.job?.token ?? '', at = 0): boolean {
    const row = this.job && { job: this.job, head: null };
    const completion = { kind: 'extraction', threadId: 't', outcome: { kind: 'no_output' }, output: null } as const;
    return this.#store(completeExtraction(row, token, at * SECOND_MS, completion)?.job);
  }

  #store(job: Job | undefined): boolean {
    this.job = job ?? this.job;
    return job !== undefined;
  }
}

function name(claim: Claim): string {
  return claim.kind === 'claimed' ? 'claimed' : claim.reason;
}

function play(steps: (job: JobPlay) => unknown): JobPlay {
  const job = new JobPlay();
  steps(job);
  return job;
}

describe('an extraction claim', () => {
  it('writes what B-06 says and nothing else', () => {
    const stored = sampleJob({
      status: 'error',
      token: 'old',
      finishedAt: 5,
      retryAt: 9,
      retryRemaining: 1,
      attempts: 2,
      lastError: 'x',
      inputWatermark: 100,
      successWatermark: 50,
      outcome: { kind: 'failed', reason: 'model_invalid' },
    });
    const request = { token: 'new', now: 10, leaseMs: 7, watermark: 100 };
    expect(claimExtraction(stored, null, request)).toEqual({
      claim: { kind: 'claimed', token: 'new', inputWatermark: 100, leaseUntil: 17 },
      job: {
        ...stored,
        status: 'running',
        token: 'new',
        startedAt: 10,
        finishedAt: null,
        leaseUntil: 17,
        retryAt: null,
        attempts: 3,
        lastError: null,
      },
    });
  });

  it('is refused at or below the stored output, and below or at the last success (B-01)', () => {
    const job = new JobPlay();
    job.outputAt = 100;
    expect([job.claim(99), job.claim(100), job.claim(101)]).toEqual(['up_to_date', 'up_to_date', 'claimed']);
  });

  it.each([
    [
      'TC-069 after success at 100, claim at 99',
      'up_to_date',
      (j: JobPlay) => [j.claim(100), j.succeed(), j.claim(99)].at(-1),
    ],
    [
      'after success at 100, claim at 100',
      'up_to_date',
      (j: JobPlay) => [j.claim(100), j.succeed(), j.claim(100)].at(-1),
    ],
    ['after success at 100, claim at 101', 'claimed', (j: JobPlay) => [j.claim(100), j.succeed(), j.claim(101)].at(-1)],
    ['TC-070 again one second later', 'running', (j: JobPlay) => [j.claim(100, 0), j.claim(100, 1)].at(-1)],
    [
      'TC-070 one second before the lease ends',
      'running',
      (j: JobPlay) => [j.claim(100, 0), j.claim(100, 3_599)].at(-1),
    ],
    ['TC-070 when the lease ends', 'claimed', (j: JobPlay) => [j.claim(100, 0), j.claim(100, 3_600)].at(-1)],
    ['TC-071 a newer source while it runs', 'running', (j: JobPlay) => [j.claim(100, 0), j.claim(200, 1)].at(-1)],
    ['TC-072 lease 0 in the same second', 'claimed', (j: JobPlay) => [j.claim(100, 0, 0), j.claim(100, 0)].at(-1)],
    ['TC-072 a negative lease counts as 0', 'claimed', (j: JobPlay) => [j.claim(100, 9, -5), j.claim(100, 9)].at(-1)],
    ['TC-076 in back-off', 'retry_backoff', (j: JobPlay) => [j.claim(100), failHour(j), j.claim(100, 3_609)].at(-1)],
    [
      'TC-076 when the back-off ends',
      'claimed',
      (j: JobPlay) => [j.claim(100), failHour(j), j.claim(100, 3_610)].at(-1),
    ],
    [
      'TC-077 a newer source in back-off',
      'claimed',
      (j: JobPlay) => [j.claim(100), failHour(j), j.claim(101, 11)].at(-1),
    ],
  ])('%s: %s', (_case, expected, steps) => {
    expect(steps(new JobPlay())).toBe(expected);
  });

  it('TC-076 TC-077 keeps the budget at the same watermark and refills it at a newer one', () => {
    const same = play((job) => [job.claim(100), failHour(job), job.claim(100, 3_610)].at(-1));
    expect(same.job).toMatchObject({ retryRemaining: 2, attempts: 2, inputWatermark: 100 });
    const newer = play((job) => [job.claim(100), failHour(job), job.claim(101, 11)].at(-1));
    expect(newer.job).toMatchObject({ retryRemaining: 3, attempts: 1, inputWatermark: 101 });
  });

  it('is exhausted after three failures, until a newer source (B-09)', () => {
    const job = new JobPlay();
    for (let round = 0; round < 3; round++) {
      expect(job.claim(100)).toBe('claimed');
      job.fail();
    }
    expect(job.claim(100)).toBe('retry_exhausted');
    expect(job.claim(101)).toBe('claimed');
    expect(job.job).toMatchObject({ retryRemaining: 3, inputWatermark: 101 });
  });

  it('TC-079 as DV-3 has it: five crashed claims, the sixth is refused, seen as exhausted, revived by newer or redrive', () => {
    const crash = () =>
      play((job) => {
        for (let at = 0; at < 5; at++) expect(job.claim(100, at * 3_600)).toBe('claimed');
        expect(job.claim(100, 5 * 3_600 - 1)).toBe('running');
        expect(job.claim(100, 5 * 3_600)).toBe('retry_exhausted');
      });
    const settled = crash();
    expect(settled.job).toMatchObject({
      status: 'error',
      leaseUntil: null,
      finishedAt: 18_000_000,
      lastError: 'exhausted',
      outcome: { kind: 'failed', reason: 'exhausted' },
    });
    expect(settled.claim(100, 99_999)).toBe('retry_exhausted');
    expect(settled.claim(101, 99_999)).toBe('claimed');
    const redriven = crash();
    redriven.job = redriven.job && redriveExtraction(redriven.job);
    expect(redriven.claim(100, 99_999)).toBe('claimed');
    expect(redriven.job).toMatchObject({ attempts: 1, retryRemaining: 3 });
  });

  it('tells exhausted before back-off before running (B-10)', () => {
    const request = { token: 'k', now: 10, leaseMs: 1, watermark: 100 };
    const at = (given: Partial<Job>) =>
      name(claimExtraction(sampleJob({ inputWatermark: 100, ...given }), null, request).claim);
    expect(at({ retryRemaining: 0, retryAt: 11, status: 'running', leaseUntil: 11 })).toBe('retry_exhausted');
    expect(at({ retryAt: 11, status: 'running', leaseUntil: 11 })).toBe('retry_backoff');
    expect(at({ status: 'running', leaseUntil: 11, attempts: LIMITS.maxAttempts })).toBe('running');
    expect(at({ retryAt: 10, status: 'running', leaseUntil: null })).toBe('claimed');
  });

  it('says when to come back', () => {
    const request = { token: 'k', now: 10, leaseMs: 1, watermark: 100 };
    const at = (given: Partial<Job>) =>
      claimExtraction(sampleJob({ inputWatermark: 100, ...given }), null, request).claim;
    expect(at({ retryAt: 11 })).toEqual({ kind: 'refused', reason: 'retry_backoff', retryAt: 11 });
    expect(at({ status: 'running', leaseUntil: 12 })).toEqual({ kind: 'refused', reason: 'running', retryAt: 12 });
  });

  it('needs a watermark', () => {
    expect(() => claimExtraction(undefined, null, { token: 'k', now: 0, leaseMs: 1 })).toThrow(
      expect.objectContaining({ code: 'job.no_watermark' }),
    );
  });
});

describe('the end of an extraction', () => {
  it('TC-080 counts although its lease is over, when nobody took over (B-13)', () => {
    expect(play((job) => job.claim(100, 0, 1)).succeed('k1', 999)).toBe(true);
    expect(play((job) => job.claim(100, 0, 1)).fail(999)).toBe(true);
  });

  it("TC-081 is refused after a takeover; the new owner's counts", () => {
    const job = play((it) => [it.claim(100, 0), it.claim(100, 3_600)].at(-1));
    expect([job.succeed('k1'), job.fail(0, {}, 'k1'), job.succeed('k2'), job.succeed('k2')]).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  it('TC-082 is refused to a foreign token, and the job stays as it is', () => {
    const job = play((it) => it.claim(100));
    const before = job.job;
    expect(job.fail(5, {}, 'foreign')).toBe(false);
    expect(job.job).toBe(before);
  });

  it('writes what C-01 and B-11 say', () => {
    const done = play((it) => [it.claim(100), it.succeed('k1', 7)].at(-1));
    expect(done.job).toMatchObject({
      status: 'done',
      finishedAt: 7_000,
      leaseUntil: null,
      lastError: null,
      successWatermark: 100,
      outcome: { kind: 'no_output' },
    });
    const outcome = { kind: 'failed', reason: 'model_invalid' } as const;
    const failed = play((it) => [it.claim(100), it.fail(7, { retry: -5, reason: 'code', outcome })].at(-1));
    expect(failed.job).toMatchObject({
      status: 'error',
      finishedAt: 7_000,
      leaseUntil: null,
      retryAt: 7_000,
      retryRemaining: 2,
      lastError: 'code',
      outcome,
      successWatermark: null,
    });
  });

  it("costs neither retry nor attempt when it is nobody's fault", () => {
    const job = new JobPlay();
    for (let round = 0; round < 20; round++) {
      expect(job.claim(100, round)).toBe('claimed');
      job.fail(round, { retry: 1_000, spendsRetry: false, outcome: { kind: 'deferred', reason: 'budget' } });
    }
    expect(job.job).toMatchObject({ attempts: 0, retryRemaining: 3, retryAt: 20_000 });
    expect(job.claim(100, 19)).toBe('retry_backoff');
  });

  it('that must never be retried waits for a newer source or a redrive', () => {
    const dead = () => play((it) => [it.claim(100), it.fail(0, { retry: 'never' })].at(-1));
    expect(dead().claim(100, 1e9)).toBe('retry_exhausted');
    expect(dead().claim(101)).toBe('claimed');
    const job = dead();
    job.job = job.job && redriveExtraction(job.job);
    expect(job.job).toMatchObject({ status: 'pending', retryAt: null, retryRemaining: 3 });
    expect(job.claim(100)).toBe('claimed');
  });

  it('extends the lease for the owner only, also when it is over (F-11)', () => {
    const job = play((it) => it.claim(100, 0, 1)).job;
    expect(extendLease(job, 'k1', { now: 5_000, leaseMs: 3_000 })).toEqual({ ...job, leaseUntil: 8_000 });
    expect(extendLease(job, 'k1', { now: 5_000, leaseMs: -3 })?.leaseUntil).toBe(5_000);
    expect(extendLease(job, 'k2', { now: 5_000, leaseMs: 3_000 })).toBeUndefined();
    expect(extendLease(undefined, 'k1', { now: 5_000, leaseMs: 3_000 })).toBeUndefined();
  });
});

describe('a redrive', () => {
  it.each<[string, Partial<Job>]>([
    ['a job that ended well', { status: 'done' }],
    ['a job that waits', { status: 'pending' }],
    ['a live run', { status: 'running', attempts: 4 }],
    ['what is deferred', { status: 'error', outcome: { kind: 'deferred', reason: 'rate_limit' } }],
  ])('leaves %s alone', (_what, given) => {
    expect(redriveExtraction(sampleJob(given))).toBeUndefined();
  });

  it('gives an unsettled crash loop new attempts without touching its lease', () => {
    const looping = sampleJob({ status: 'running', token: 'k', leaseUntil: 9, attempts: 5 });
    expect(redriveExtraction(looping)).toEqual({ ...looping, attempts: 0 });
  });
});

function failHour(job: JobPlay): void {
  job.fail(10, { retry: 3_600 * SECOND_MS });
}
