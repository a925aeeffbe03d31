import { expect } from 'vitest';
import type { ClaimRequest, Completion, JobKey } from '../../core/job/job.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import type { StageOneStore } from '../../core/ports/stage-one-store.ts';
import { NOW, sampleHead } from './sample-state.ts';

export interface JobContractStores {
  readonly jobs: JobStore;
  readonly outputs: StageOneStore;
}

/** ms. */
export const LEASE = 1_000;

export function extraction(threadId: string): JobKey {
  return { kind: 'extraction', threadId };
}

export function claimAt(watermark: number, token: string): ClaimRequest {
  return { token, now: NOW, leaseMs: LEASE, watermark };
}

export function done(threadId: string, sourceUpdatedAt: number): Extract<Completion, { kind: 'extraction' }> {
  const {
    usageCount: _count,
    lastUsage: _use,
    selectedSnapshot: _mark,
    ...output
  } = sampleHead({
    threadId,
    sourceUpdatedAt,
    slug: 'a-slug',
  });
  return { kind: 'extraction', threadId, outcome: { kind: 'extracted' }, output };
}

/** Claims and completes with an output. */
export async function extract(jobs: JobStore, threadId: string, watermark: number): Promise<void> {
  const token = `${threadId}@${watermark}`;
  expect(await jobs.claim('u', extraction(threadId), claimAt(watermark, token))).toMatchObject({ kind: 'claimed' });
  expect(await jobs.complete('u', token, NOW, done(threadId, watermark))).toBe(true);
}
