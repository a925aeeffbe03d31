import type { Clock } from '../ports/clock.ts';
import type { JobStore } from '../ports/job-store.ts';
import { checkEligibility, type EligibilityRules } from '../thread/eligibility.ts';
import type { Thread } from '../thread/thread.ts';
import type { Outcome } from './outcome.ts';

export interface SkipPorts {
  readonly jobs: Pick<JobStore, 'get' | 'wake' | 'recordOutcome'>;
  readonly clock: Clock;
}

/**
 * Why a thread is not extracted now, recorded for its owner with the time to look again. A thread that was extracted and only
 * grew old, or is in use again without new content, keeps its outcome.
 * @returns undefined for a thread that may be extracted; nothing is written then
 */
export async function findSkip(
  ports: SkipPorts,
  { userKey, thread }: { readonly userKey: string; readonly thread: Thread },
  rules: Omit<EligibilityRules, 'now'>,
): Promise<Outcome | undefined> {
  const { threadId } = thread;
  const verdict = checkEligibility(thread, { ...rules, now: ports.clock.now() });
  if (verdict.kind === 'eligible') return undefined;
  if (verdict.reason === 'too_old' || verdict.reason === 'not_idle') {
    const job = await ports.jobs.get(userKey, { kind: 'extraction', threadId });
    if ((job?.successWatermark ?? -1) >= thread.updatedAt) {
      await ports.jobs.wake(userKey, threadId, null);
      return { kind: 'skipped', reason: 'unchanged' };
    }
  }
  const { until, ...outcome } = verdict;
  await ports.jobs.recordOutcome(userKey, threadId, outcome, until);
  return outcome;
}
