import type { Claim, Job } from '../job/job.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { StageOneStore } from '../ports/stage-one-store.ts';
import type { FailReason, Outcome } from './outcome.ts';

export interface RefusalPorts {
  readonly jobs: JobStore;
  readonly outputs: StageOneStore;
}

export interface RefusedThread {
  readonly userKey: string;
  readonly threadId: string;
}

/** Ends that no retry changes: they stay as they are when the job is called exhausted. */
const LASTING: readonly FailReason[] = [
  'too_large',
  'unreadable',
  'unrecognised_format',
  'no_thread_id',
  'model_refused',
  'filtered',
  'exhausted',
];

/**
 * The outcome of a thread whose job could not be claimed. A thread that is up to date is unchanged, and what is recorded of
 * it stays; one that waits or runs shows what is recorded; one without retries left is exhausted, and says what it failed of.
 */
export async function mapRefusal(
  ports: RefusalPorts,
  thread: RefusedThread,
  claim: Extract<Claim, { kind: 'refused' }>,
): Promise<Outcome> {
  const job = await ports.jobs.get(thread.userKey, { kind: 'extraction', threadId: thread.threadId });
  if (claim.reason === 'up_to_date') {
    await markMissedConsolidation(ports, thread, job);
    return { kind: 'skipped', reason: 'unchanged' };
  }
  const recorded = job?.outcome ?? null;
  if (claim.reason === 'retry_exhausted') return exhaust(ports, thread, recorded);
  return recorded ?? { kind: 'skipped', reason: 'unchanged', detail: 'another run has it' };
}

async function exhaust(ports: RefusalPorts, thread: RefusedThread, recorded: Outcome | null): Promise<Outcome> {
  if (recorded?.kind === 'failed' && LASTING.includes(recorded.reason)) return recorded;
  const detail = recorded !== null && 'reason' in recorded ? { detail: `the last time: ${recorded.reason}` } : {};
  const outcome: Outcome = { kind: 'failed', reason: 'exhausted', ...detail };
  await ports.jobs.recordOutcome(thread.userKey, thread.threadId, outcome);
  return outcome;
}

/**
 * A run that died right after its commit did not mark the consolidation due. Seen here by an output that no consolidation has
 * taken in although none has begun since, and none is waiting to.
 */
async function markMissedConsolidation(
  ports: RefusalPorts,
  thread: RefusedThread,
  job: Job | undefined,
): Promise<void> {
  const head = await ports.outputs.head(thread.userKey, thread.threadId);
  if (head === undefined || head.selectedSnapshot === head.sourceUpdatedAt) return;
  const consolidation = await ports.jobs.get(thread.userKey, { kind: 'consolidation' });
  const begunSince = (consolidation?.startedAt ?? -1) >= (job?.finishedAt ?? Number.POSITIVE_INFINITY);
  if (consolidation?.status === 'pending' || begunSince) return;
  await ports.jobs.enqueueConsolidation(thread.userKey, head.sourceUpdatedAt);
}
