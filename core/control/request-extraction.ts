import type { Clock } from '../ports/clock.ts';
import type { JobQueue } from '../ports/job-queue.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { ThreadStore } from '../ports/thread-store.ts';
import type { Thread } from '../thread/thread.ts';
import { findThread } from './describe-thread.ts';

export interface RequestExtractionPorts {
  readonly threads: ThreadStore;
  readonly jobs: Pick<JobStore, 'wake' | 'redrive'>;
  readonly queue: JobQueue;
  readonly clock: Clock;
}

const SEND_BATCH = 10;

/**
 * Asks for a thread's extraction now, without the idle wait (`POST /v1/threads/{id}/extract`). The thread is marked as asked
 * for, which lifts the limits of age and idleness for it, and is due at once, also where the message gets lost.
 * @throws NotFoundError `thread.not_found`
 */
export async function requestExtraction(
  ports: RequestExtractionPorts,
  userKey: string,
  threadId: string,
): Promise<void> {
  await findThread(ports, userKey, threadId);
  const now = ports.clock.now();
  await ports.threads.update(userKey, threadId, (stored) => stored && markRequested(stored, now));
  await ports.jobs.wake(userKey, threadId, now);
  await ports.queue.send([{ kind: 'thread-due', userKey, threadId }]);
}

function markRequested(thread: Thread, now: number): Thread | undefined {
  return thread.forgottenAt === null ? { ...thread, requestedAt: now } : undefined;
}

/**
 * Makes failed and exhausted extractions due again (DV-3). A second call finds nothing to revive.
 * @returns how many
 */
export async function redriveExtractions(
  ports: Pick<RequestExtractionPorts, 'jobs' | 'queue'>,
  userKey: string,
): Promise<number> {
  const revived = await ports.jobs.redrive(userKey);
  for (let at = 0; at < revived.length; at += SEND_BATCH) {
    const batch = revived.slice(at, at + SEND_BATCH);
    await ports.queue.send(batch.map((threadId) => ({ kind: 'thread-due', userKey, threadId })));
  }
  return revived.length;
}
