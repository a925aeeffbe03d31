import { InvalidInputError } from '../errors.ts';
import { requireThreadId, sha256Hex } from '../ids.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';
import type { SettingsStore } from '../ports/settings-store.ts';
import { takeInRollout } from '../thread/take-in-rollout.ts';
import { type AnnouncedUpload, isStoredAlready, type KnownUploadPorts } from './offer-upload.ts';

export interface ReceivePorts extends KnownUploadPorts {
  readonly rollouts: RolloutStore;
  readonly settings: Pick<SettingsStore, 'read'>;
}

/**
 * Takes in a rollout that came whole (`PUT /v1/rollouts/{thread_id}`): stored, entered in the catalogue, and its extraction
 * tried as soon as a worker is free. The same bytes again change nothing.
 * @throws InvalidInputError `thread.invalid_id`, `rollout.checksum_mismatch`; ConflictError `thread.forgotten`
 */
export async function receiveRollout(
  ports: ReceivePorts,
  upload: AnnouncedUpload,
  content: Uint8Array,
): Promise<{ readonly kind: 'unchanged' | 'stored' }> {
  const { userKey, threadId, hints } = upload;
  requireThreadId(threadId);
  const sha256 = sha256Hex(content);
  if (upload.sha256 !== null && upload.sha256 !== sha256) throw mismatch();
  if (await isStoredAlready(ports, { ...upload, sha256 })) return { kind: 'unchanged' };
  const settings = await ports.settings.read(userKey);
  await ports.rollouts.put(userKey, threadId, inOneChunk(content), `${threadId}.jsonl`, ports.clock.now(), hints);
  await takeInRollout(ports, { userKey, threadId, order: null, settings, hints });
  await ports.queue.send([{ kind: 'thread-due', userKey, threadId }]);
  return { kind: 'stored' };
}

async function* inOneChunk(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}

function mismatch(): InvalidInputError {
  return new InvalidInputError('rollout.checksum_mismatch', 'sha256 must be the hash of the bytes that were sent', {
    details: { field: 'sha256' },
  });
}
