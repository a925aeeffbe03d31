import { ConflictError } from '../errors.ts';
import { requireThreadId } from '../ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobQueue } from '../ports/job-queue.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { ThreadStore } from '../ports/thread-store.ts';
import type { SignedUpload, UploadSigner } from '../ports/upload-signer.ts';
import type { Thread, UploadHints } from '../thread/thread.ts';

export interface KnownUploadPorts {
  readonly threads: ThreadStore;
  readonly jobs: Pick<JobStore, 'wake'>;
  readonly queue: JobQueue;
  readonly clock: Clock;
}

/** What an uploader tells before it uploads. */
export interface AnnouncedUpload {
  readonly userKey: string;
  readonly threadId: string;
  /** Lower-case hex of the bytes as they will be uploaded; null = not told. */
  readonly sha256: string | null;
  readonly bytes: number | null;
  readonly hints: UploadHints;
}

/**
 * Offers an address to upload a rollout to, unless exactly these bytes are stored already (`POST /v1/rollouts`).
 * @throws InvalidInputError `thread.invalid_id`, `rollout.too_large`
 * @throws ConflictError `thread.forgotten`: the user had the thread forgotten, and it never comes back (DV-18)
 */
export async function offerUpload(
  ports: KnownUploadPorts & { readonly uploads: UploadSigner },
  upload: AnnouncedUpload,
): Promise<{ readonly kind: 'unchanged' } | { readonly kind: 'offered'; readonly upload: SignedUpload }> {
  const { userKey, threadId, sha256, bytes, hints } = upload;
  requireThreadId(threadId);
  if (await isStoredAlready(ports, upload)) return { kind: 'unchanged' };
  return {
    kind: 'offered',
    upload: await ports.uploads.sign(userKey, threadId, { bytes, sha256, hints, now: ports.clock.now() }),
  };
}

/**
 * Whether these bytes are what is stored of the thread. Where the uploader says for the first time that the session is over,
 * the catalogue learns it, and the thread's extraction need not wait any longer.
 * @throws ConflictError `thread.forgotten`
 */
export async function isStoredAlready(ports: KnownUploadPorts, upload: AnnouncedUpload): Promise<boolean> {
  const { userKey, threadId, sha256, hints } = upload;
  const stored = await ports.threads.get(userKey, threadId);
  if (stored === undefined) return false;
  if (stored.forgottenAt !== null) throw forgotten(threadId);
  if (sha256 === null || stored.rollout.sha256 !== sha256) return false;
  if (hints.ended === true && !stored.ended) {
    await ports.threads.update(userKey, threadId, (known) => known && markEnded(known));
    await ports.jobs.wake(userKey, threadId, ports.clock.now());
    await ports.queue.send([{ kind: 'thread-due', userKey, threadId }]);
  }
  return true;
}

function markEnded(thread: Thread): Thread | undefined {
  return thread.forgottenAt === null && !thread.ended ? { ...thread, ended: true } : undefined;
}

function forgotten(threadId: string): ConflictError {
  return new ConflictError('thread.forgotten', 'the thread was forgotten, and its rollout is not taken in again', {
    details: { thread_id: threadId },
  });
}
