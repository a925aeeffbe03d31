import type { JobQueue } from '../ports/job-queue.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { Settings } from '../settings.ts';
import { rulesForThread } from '../thread/eligibility.ts';
import type { Thread } from '../thread/thread.ts';
import { emitReport } from './extraction-report.ts';
import { findSkip, type SkipPorts } from './find-skip.ts';

export interface QueueExtractionPorts extends SkipPorts {
  readonly queue: JobQueue;
  readonly telemetry: Telemetry;
}

export interface TakenUpload {
  readonly userKey: string;
  /** As the catalogue tells of it after the upload was taken in. */
  readonly thread: Thread;
  readonly settings: Settings;
  /** False when the catalogue knew of this upload or of a later one: it may have been queued, and even extracted, before. */
  readonly isNew: boolean;
}

/** `queued`: its extraction waits its user's turn. `skipped`: why not is recorded. `settled`: nothing is left to do. */
export type UploadFollowUp = 'queued' | 'skipped' | 'settled';

/**
 * What follows on an upload that was taken in: its extraction is queued in its user's turn, so that the uploads of one user do
 * not stand before everybody else's (user case C21). A thread that may not be extracted now is not queued: the reason and the
 * time to look again are recorded here as its extraction would record them, which saves a message and an invocation. A known
 * upload is not queued either once its thread was claimed at that content: from then on the job says itself when it is due.
 * @throws UnavailableError of the stores and the queue; the upload is then told of again, and can be queued again
 */
export async function queueExtraction(ports: QueueExtractionPorts, upload: TakenUpload): Promise<UploadFollowUp> {
  const { userKey, thread, settings } = upload;
  const { threadId } = thread;
  if (!upload.isNew && (await wasClaimed(ports, upload))) return 'settled';
  const skipped = await findSkip(ports, upload, { settings, ...rulesForThread(thread, settings) });
  if (skipped !== undefined) {
    emitReport(ports.telemetry, { claimed: false, outcome: skipped, usage: null }, { threadId, ms: 0 });
    return 'skipped';
  }
  await ports.queue.send([{ kind: 'thread-due', userKey, threadId }]);
  return 'queued';
}

async function wasClaimed(ports: SkipPorts, { userKey, thread }: TakenUpload): Promise<boolean> {
  const job = await ports.jobs.get(userKey, { kind: 'extraction', threadId: thread.threadId });
  return (job?.inputWatermark ?? -1) >= thread.updatedAt;
}
