import { outcomeName } from '../extraction/outcome.ts';
import type { Job } from '../job/job.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { ThreadMark, ThreadStore } from '../ports/thread-store.ts';
import { extractionState } from './extraction-state.ts';

export interface ThreadCounts {
  /** Forgotten threads are not counted anywhere: they are gone from every read (DV-18). */
  readonly total: number;
  /** By outcome name; `pending` before the first outcome. Adds up to `total`. */
  readonly byOutcome: Readonly<Record<string, number>>;
  /** Secrets that were replaced before anything was stored or sent, by kind; never a value (DV-6). */
  readonly redactions: Readonly<Record<string, number>>;
  readonly queued: number;
  readonly running: number;
  readonly failed: number;
  readonly deferred: number;
  /** Upload time of the queued thread that waits longest, ms. */
  readonly oldestQueuedAt: number | null;
}

/** Counts a user's threads by outcome and state: one read of the jobs, one of the threads' marks. */
export async function countThreads(
  stores: { readonly threads: Pick<ThreadStore, 'marks'>; readonly jobs: Pick<JobStore, 'listExtractions'> },
  userKey: string,
  now: number,
): Promise<ThreadCounts> {
  const jobs = await stores.jobs.listExtractions(userKey);
  const tally = startTally();
  for (const mark of await stores.threads.marks(userKey)) {
    const job = jobs.get(mark.threadId);
    tally.add(mark, job, extractionState(mark, job, now));
  }
  return tally.counts();
}

function startTally() {
  const byState = { queued: 0, running: 0, failed: 0, deferred: 0, settled: 0 };
  const byOutcome = new Map<string, number>();
  const redactions = new Map<string, number>();
  let oldestQueuedAt: number | null = null;
  let total = 0;
  return {
    add(mark: ThreadMark, job: Job | undefined, state: keyof typeof byState): void {
      const { uploadedAt } = mark;
      total += 1;
      byState[state] += 1;
      const name = job?.outcome ? outcomeName(job.outcome) : 'pending';
      byOutcome.set(name, (byOutcome.get(name) ?? 0) + 1);
      for (const [kind, times] of Object.entries(mark.redactions))
        redactions.set(kind, (redactions.get(kind) ?? 0) + times);
      if (state === 'queued') oldestQueuedAt = Math.min(oldestQueuedAt ?? uploadedAt, uploadedAt);
    },
    counts(): ThreadCounts {
      const { settled: _, ...states } = byState;
      return { total, byOutcome: sorted(byOutcome), redactions: sorted(redactions), ...states, oldestQueuedAt };
    },
  };
}

function sorted(counts: ReadonlyMap<string, number>): Readonly<Record<string, number>> {
  return Object.fromEntries([...counts].sort());
}
