import { describe, expect, it } from 'vitest';
import { evidenceLimitNote, rememberedEvidenceTokens } from '../../../core/extraction/evidence-limit.ts';
import type { Job } from '../../../core/job/job.ts';

function job(finishedAt: number | null, detail: string | undefined): Job {
  return {
    status: 'done',
    token: null,
    startedAt: null,
    finishedAt,
    leaseUntil: null,
    retryAt: null,
    retryRemaining: 3,
    attempts: 1,
    lastError: null,
    inputWatermark: 1,
    successWatermark: 1,
    wakeAt: null,
    outcome: { kind: 'extracted', ...(detail === undefined ? {} : { detail }) },
  };
}

describe('rememberedEvidenceTokens', () => {
  it('takes the newest note for the model, whatever the order', () => {
    const jobs = new Map([
      ['a', job(30, undefined)],
      ['b', job(20, evidenceLimitNote(500, 'm-1'))],
      ['c', job(10, `over the window; next ${evidenceLimitNote(900, 'm-1')}`)],
      ['d', job(40, evidenceLimitNote(7, 'm-10'))],
    ]);
    expect(rememberedEvidenceTokens(jobs, 'm-1')).toBe(500);
    expect(rememberedEvidenceTokens(new Map([...jobs].reverse()), 'm-1')).toBe(500);
    expect(rememberedEvidenceTokens(jobs, 'm-10')).toBe(7);
    expect(rememberedEvidenceTokens(jobs, 'other')).toBeUndefined();
  });
});
