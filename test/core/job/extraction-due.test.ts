import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claimExtraction, extractionDueAt } from '../../../core/job/claim-extraction.ts';
import { failJob } from '../../../core/job/end-job.ts';
import type { Job } from '../../../core/job/job.ts';
import { recordOutcome, redriveExtraction, wakeExtraction } from '../../../core/job/revive-job.ts';
import { LIMITS } from '../../../core/settings.ts';
import { sampleJob } from '../../support/sample-state.ts';

const error = (given: Partial<Job>) => sampleJob({ status: 'error', retryAt: 70, ...given });

describe('when an extraction is due', () => {
  it('is never, without a job', () => {
    expect(extractionDueAt(undefined)).toBeNull();
  });

  it.each<[string, Job, number | null]>([
    ['a job that waits for an upload', sampleJob(), null],
    ['a job that waits for its time', sampleJob({ wakeAt: 50 }), 50],
    ['a job woken at the beginning of time', sampleJob({ wakeAt: 0 }), 0],
    ['a run, at the end of its lease', sampleJob({ status: 'running', leaseUntil: 90 }), 90],
    ['a run, whatever wake comes before', sampleJob({ status: 'running', leaseUntil: 90, wakeAt: 50 }), 90],
    ['a run without a lease, at once', sampleJob({ status: 'running' }), 0],
    ['a success', sampleJob({ status: 'done', retryAt: 70 }), null],
    ['a success that was woken', sampleJob({ status: 'done', wakeAt: 50 }), 50],
    ['a failure, at its retry', error({}), 70],
    ['a failure that was woken before its retry', error({ wakeAt: 50 }), 50],
    ['a failure that was woken after its retry', error({ wakeAt: 80 }), 70],
    ['a failure for good', error({ retryAt: null }), null],
    ['a failure for good that was woken', error({ retryAt: null, wakeAt: 50 }), 50],
    ['a failure without budget', error({ retryRemaining: 0 }), null],
    ['a failure without budget that was woken', error({ retryRemaining: 0, wakeAt: 50 }), 50],
    ['a failure with its last attempt made', error({ attempts: LIMITS.maxAttempts }), null],
    ['a failure with one attempt left', error({ attempts: LIMITS.maxAttempts - 1 }), 70],
  ])('%s', (_what, job, expected) => {
    expect(extractionDueAt(job)).toBe(expected);
  });

  it('is the time at which a claim is no longer refused for waiting', () => {
    const jobs = fc.record({
      status: fc.constantFrom<Job['status']>('pending', 'running', 'error'),
      leaseUntil: fc.nat(50),
      retryAt: fc.option(fc.nat(50)),
      retryRemaining: fc.nat(3),
      attempts: fc.nat(LIMITS.maxAttempts),
    });
    fc.assert(
      fc.property(jobs, (given) => {
        const leaseUntil = given.status === 'running' ? given.leaseUntil : null;
        const retryAt = given.status === 'error' ? given.retryAt : null;
        const job = sampleJob({ ...given, leaseUntil, retryAt, token: 'old', inputWatermark: 100 });
        const dueAt = extractionDueAt(job);
        if (dueAt === null) return;
        const { claim } = claimExtraction(job, null, { token: 'k', now: dueAt, leaseMs: 1, watermark: 100 });
        expect(claim.kind === 'claimed' ? 'claimed' : claim.reason).toMatch(/^(claimed|retry_exhausted)$/);
      }),
    );
  });
});

describe('a wake', () => {
  it('keeps the earlier time, and changes nothing where it is the time already', () => {
    expect(wakeExtraction(undefined, 50)).toEqual(sampleJob({ wakeAt: 50 }));
    expect(wakeExtraction(sampleJob({ wakeAt: 50 }), 40)?.wakeAt).toBe(40);
    expect(wakeExtraction(sampleJob({ wakeAt: 50 }), 60)).toBeUndefined();
    expect(wakeExtraction(sampleJob({ wakeAt: 50 }), 50)).toBeUndefined();
    expect(wakeExtraction(sampleJob({ wakeAt: 50 }), null)?.wakeAt).toBeNull();
    expect(wakeExtraction(sampleJob(), null)).toBeUndefined();
    expect(wakeExtraction(undefined, null)).toBeUndefined();
  });

  it('that comes during a run outlives it', () => {
    const running = sampleJob({ status: 'running', token: 'k', leaseUntil: 90 });
    const woken = wakeExtraction(running, 50);
    const failure = { now: 60, reason: 'x', outcome: null, retry: 'never', spendsRetry: true } as const;
    expect(extractionDueAt(failJob('extraction', woken, 'k', failure))).toBe(50);
  });

  it('is used up by a look that ends in a refusal, unless somebody else runs the job', () => {
    const request = { token: 'k', now: 10, leaseMs: 1, watermark: 100 };
    const wakeAfter = (given: Partial<Job>) =>
      claimExtraction(sampleJob({ inputWatermark: 100, wakeAt: 5, ...given }), null, request).job?.wakeAt;
    expect(wakeAfter({ successWatermark: 100 })).toBeNull();
    expect(wakeAfter({ status: 'error', retryAt: 20 })).toBeNull();
    expect(wakeAfter({ status: 'error', retryRemaining: 0 })).toBeNull();
    expect(wakeAfter({ status: 'running', leaseUntil: 20 })).toBeUndefined();
  });
});

describe('an end without a claim', () => {
  const skipped = { kind: 'skipped', reason: 'not_idle' } as const;

  it('says when to look again, in place of a retry that waits', () => {
    expect(recordOutcome(undefined, skipped, 50)).toEqual(sampleJob({ outcome: skipped, wakeAt: 50 }));
    const recorded = recordOutcome(error({ wakeAt: 10 }), skipped, null);
    expect(recorded).toEqual(error({ outcome: skipped, retryAt: null, wakeAt: null }));
    expect(extractionDueAt(recorded)).toBeNull();
  });

  it('leaves a run alone', () => {
    expect(recordOutcome(sampleJob({ status: 'running' }), skipped, 50)).toBeUndefined();
  });
});

it('a redrive makes what it revives due at once', () => {
  const revived = redriveExtraction(error({ retryAt: null, retryRemaining: 0 }));
  expect(extractionDueAt(revived)).toBe(0);
});
