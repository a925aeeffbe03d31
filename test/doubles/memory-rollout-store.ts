import { decompress } from '../../adapters/compression/decompress.ts';
import { NotFoundError } from '../../core/errors.ts';
import { requireThreadId, sha256Hex } from '../../core/ids.ts';
import type { RolloutStore } from '../../core/ports/rollout-store.ts';
import { LIMITS } from '../../core/settings.ts';
import { NO_HINTS, type StoredRollout, type UploadedRollout, type UploadHints } from '../../core/thread/thread.ts';

/** Rollouts held in memory. */
export class MemoryRolloutStore implements RolloutStore {
  readonly #rollouts = new Map<string, Uint8Array>();
  readonly #uploads = new Map<string, UploadedRollout>();
  readonly #limitBytes: number;

  constructor(limitBytes: number = LIMITS.rolloutBytes) {
    this.#limitBytes = limitBytes;
  }

  async put(
    userKey: string,
    threadId: string,
    content: AsyncIterable<Uint8Array>,
    path: string,
    now: number,
    hints: UploadHints = NO_HINTS,
  ): Promise<StoredRollout> {
    const key = keyOf(userKey, threadId);
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    this.#rollouts.set(key, bytes);
    const rollout = { sha256: sha256Hex(bytes), bytes: bytes.length, uploadedAt: now, path, order: null };
    this.#uploads.set(key, { rollout, hints });
    return rollout;
  }

  async look(userKey: string, threadId: string): Promise<UploadedRollout | undefined> {
    return this.#uploads.get(keyOf(userKey, threadId));
  }

  /** What the uploader said of a stored rollout. */
  say(userKey: string, threadId: string, hints: Partial<UploadHints>): void {
    const key = keyOf(userKey, threadId);
    const upload = this.#uploads.get(key);
    if (upload !== undefined) this.#uploads.set(key, { ...upload, hints: { ...upload.hints, ...hints } });
  }

  async open(userKey: string, threadId: string): Promise<AsyncIterable<Uint8Array>> {
    const bytes = this.#rollouts.get(keyOf(userKey, threadId));
    if (bytes === undefined) throw new NotFoundError('rollout.not_found', 'there is no rollout of this thread');
    return decompress(inOneChunk(bytes), this.#limitBytes);
  }

  async remove(userKey: string, threadId: string): Promise<boolean> {
    this.#uploads.delete(keyOf(userKey, threadId));
    return this.#rollouts.delete(keyOf(userKey, threadId));
  }
}

function keyOf(userKey: string, threadId: string): string {
  return `${userKey}/${requireThreadId(threadId)}`;
}

async function* inOneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
