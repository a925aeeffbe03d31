import { describe, expect, it } from 'vitest';
import { consolidationState, isConsolidationDue } from '../../../core/control/consolidation-state.ts';
import type { Job } from '../../../core/job/job.ts';
import { LIMITS } from '../../../core/settings.ts';
import { HOUR_MS } from '../../../core/time.ts';
import { NOW, sampleHead, sampleJob } from '../../support/sample-state.ts';

function state(job: Partial<Job> | undefined, facts: { newestMadeAt?: number; madeAt?: readonly number[] } = {}) {
  return consolidationState(job === undefined ? undefined : sampleJob(job), {
    newestMadeAt: facts.newestMadeAt ?? null,
    outputs: (facts.madeAt ?? []).map((generatedAt) => sampleHead({ generatedAt })),
    now: NOW,
  });
}

const DUE = { inputWatermark: 2, successWatermark: 1 };
const TAKEN = { inputWatermark: 2, successWatermark: 2 };
const COOLDOWN = LIMITS.consolidationCooldownMs;
const STALE = LIMITS.staleConsolidationMs;

describe('consolidationState', () => {
  it('is quiet before the first input', () => {
    expect(state(undefined)).toEqual({
      status: 'none',
      lastSuccessAt: null,
      lastError: null,
      nextAt: null,
      stale: false,
    });
  });

  it.each<[Job['status'], Partial<Job>]>([
    ['pending', DUE],
    ['running', { status: 'running', leaseUntil: NOW + 1 }],
    ['pending', { status: 'running', leaseUntil: NOW }],
    ['done', { status: 'done' }],
    ['error', { status: 'error' }],
  ])('shows %s', (status, job) => {
    expect(state(job).status).toBe(status);
  });

  it('knows the last success from the job, from the newest version, or from the later of both', () => {
    expect(state({ status: 'done', finishedAt: 50 }).lastSuccessAt).toBe(50);
    expect(state({ status: 'running', leaseUntil: NOW + 1 }, { newestMadeAt: 40 }).lastSuccessAt).toBe(40);
    expect(state({ status: 'done', finishedAt: 50 }, { newestMadeAt: 40 }).lastSuccessAt).toBe(50);
    expect(state({ status: 'error', finishedAt: 50 }, { newestMadeAt: 40 }).lastSuccessAt).toBe(40);
  });

  it.each<[string, Partial<Job>, number | null]>([
    ['nothing waits', { ...TAKEN, status: 'done', finishedAt: NOW }, null],
    ['a run is at work', { ...DUE, status: 'running', leaseUntil: NOW + 1 }, null],
    ['input waits and nothing holds it back', DUE, NOW],
    ['the cooldown of a success holds it back', { ...DUE, status: 'done', finishedAt: NOW - 1 }, NOW - 1 + COOLDOWN],
    ['the cooldown is over', { ...DUE, status: 'done', finishedAt: NOW - COOLDOWN - 1 }, NOW],
    ['a failure has no cooldown', { ...DUE, status: 'pending', finishedAt: NOW - 1, lastError: 'e' }, NOW],
    [
      'a retry delay holds it back',
      { ...DUE, status: 'error', finishedAt: NOW, lastError: 'e', retryAt: NOW + 7 },
      NOW + 7,
    ],
    ['a run died', { ...DUE, status: 'running', leaseUntil: NOW - 5 }, NOW],
  ])('tells when the next run may start where %s', (_, job, nextAt) => {
    expect(state(job).nextAt).toBe(nextAt);
  });

  it.each<[string, boolean, Partial<Job>, readonly number[]]>([
    ['fresh input', false, DUE, [NOW - 5]],
    ['input that waits for hours', true, DUE, [NOW - STALE - 1, NOW - 5]],
    ['input that waits to the limit', false, DUE, [NOW - STALE]],
    ['old input that was taken in', false, TAKEN, [NOW - 10 * STALE]],
    ['input in the cooldown', false, { ...DUE, status: 'done', finishedAt: NOW - STALE }, [NOW - STALE]],
    ['no run long after the cooldown', true, { ...DUE, status: 'done', finishedAt: NOW - COOLDOWN - STALE - 1 }, []],
    ['a retry that nobody makes', true, { ...DUE, status: 'error', retryAt: NOW - STALE - 1, lastError: 'e' }, []],
    ['a dead run that nobody takes over', true, { ...DUE, status: 'running', leaseUntil: NOW - STALE - 1 }, []],
    ['a long run that is alive', false, { ...DUE, status: 'running', leaseUntil: NOW + 1 }, [NOW - 10 * HOUR_MS]],
  ])('judges %s as stale: %s', (_, stale, job, madeAt) => {
    expect(state(job, { madeAt }).stale).toBe(stale);
  });

  it('does not count outputs from before the last success as waiting', () => {
    expect(state(DUE, { newestMadeAt: NOW - 5, madeAt: [NOW - 10 * STALE] }).stale).toBe(false);
  });

  it('is due only while the input is ahead of the success', () => {
    expect(isConsolidationDue(undefined)).toBe(false);
    expect(isConsolidationDue(sampleJob(DUE))).toBe(true);
    expect(isConsolidationDue(sampleJob(TAKEN))).toBe(false);
    expect(isConsolidationDue(sampleJob({ inputWatermark: 1 }))).toBe(true);
  });
});
