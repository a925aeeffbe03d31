import { LIMITS } from '../settings.ts';
import type { ClaimRequest, Job } from './job.ts';

/** The state of a job before anything happened to it; both kinds start with the full retry budget (behaviours 0.3). */
export const NEW_JOB: Job = {
  status: 'pending',
  token: null,
  startedAt: null,
  finishedAt: null,
  leaseUntil: null,
  retryAt: null,
  retryRemaining: LIMITS.retryBudget,
  attempts: 0,
  lastError: null,
  inputWatermark: null,
  successWatermark: null,
  outcome: null,
  wakeAt: null,
};

/** True while the lease of a running job has not ended; at its end to the millisecond the job may be taken over (B-02, TC-070). */
export function isHeld(job: Job, now: number): boolean {
  return job.status === 'running' && job.leaseUntil !== null && job.leaseUntil > now;
}

/** True when the token may write to the job: it runs under this token, be its lease over or not (behaviours B-13). */
export function isOwned(job: Job | undefined, token: string): job is Job {
  return job !== undefined && job.status === 'running' && job.token === token;
}

/** True for a claim under the token that runs the job already: the answer to the first one did not arrive. */
export function isRepeated(job: Job, request: ClaimRequest): boolean {
  return job.status === 'running' && job.token === request.token;
}
