import { describe, expect, it } from 'vitest';
import { extractionState } from '../../../core/control/extraction-state.ts';
import type { Job } from '../../../core/job/job.ts';
import { NOW, sampleJob, sampleThread } from '../../support/sample-state.ts';

const thread = sampleThread({ updatedAt: 100 });
const FAILED = { kind: 'failed', reason: 'model_invalid' } as const;
const SKIPPED = { kind: 'skipped', reason: 'too_short' } as const;
const DEFERRED = { kind: 'deferred', reason: 'budget' } as const;
const EXTRACTED = { kind: 'extracted' } as const;

describe('extractionState', () => {
  it.each<[string, ReturnType<typeof extractionState>, Partial<Job> | undefined]>([
    ['a thread that nobody looked at', 'queued', undefined],
    ['a job that waits for its first claim', 'queued', {}],
    ['a live run', 'running', { status: 'running', leaseUntil: NOW + 1, attempts: 5 }],
    ['a run whose lease ended just now', 'queued', { status: 'running', leaseUntil: NOW, attempts: 4 }],
    ['a dead run without a lease', 'queued', { status: 'running', leaseUntil: null, attempts: 1 }],
    ['a crash loop at its last attempt', 'failed', { status: 'running', leaseUntil: NOW, attempts: 5 }],
    ['an end at this very rollout', 'settled', { status: 'done', successWatermark: 100, outcome: EXTRACTED }],
    ['an end without output', 'settled', { status: 'done', successWatermark: 100, outcome: { kind: 'no_output' } }],
    ['a rollout that grew since its end', 'queued', { status: 'done', successWatermark: 99, outcome: EXTRACTED }],
    ['a skip', 'settled', { outcome: SKIPPED }],
    ['a skip of what was once extracted', 'settled', { status: 'done', successWatermark: 100, outcome: SKIPPED }],
    ['a deferral before any claim', 'deferred', { outcome: DEFERRED }],
    ['a deferral out of a run', 'deferred', { status: 'error', retryAt: NOW + 9, outcome: DEFERRED }],
    [
      'a failure that is retried later',
      'queued',
      { status: 'error', retryAt: NOW + 9, retryRemaining: 1, outcome: FAILED },
    ],
    [
      'a failure whose retry is due',
      'queued',
      { status: 'error', retryAt: NOW - 9, retryRemaining: 1, outcome: FAILED },
    ],
    ['the last failure', 'failed', { status: 'error', retryAt: NOW + 9, retryRemaining: 0, outcome: FAILED }],
    [
      'a failure that is never retried',
      'failed',
      { status: 'error', retryAt: null, retryRemaining: 0, outcome: FAILED },
    ],
    [
      'a failure out of attempts',
      'failed',
      { status: 'error', retryAt: NOW, retryRemaining: 2, attempts: 5, outcome: FAILED },
    ],
    ['a failure before any claim', 'failed', { outcome: FAILED }],
    ['a redriven failure', 'queued', { inputWatermark: 100, outcome: FAILED }],
  ])('takes %s as %s', (_, state, job) => {
    expect(extractionState(thread, job === undefined ? undefined : sampleJob(job), NOW)).toBe(state);
  });
});
