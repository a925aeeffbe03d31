import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { NotFoundError, StillroomError, UnavailableError } from '../../core/errors.ts';
import { requireThreadId } from '../../core/ids.ts';
import type { RolloutStore } from '../../core/ports/rollout-store.ts';
import { LIMITS } from '../../core/settings.ts';
import { NO_HINTS, type StoredRollout, type UploadedRollout } from '../../core/thread/thread.ts';
import { decompress } from '../compression/decompress.ts';
import {
  errorCode,
  type FileOpener,
  placeFile,
  stageFile,
  sweepStrays,
  userFolder,
  writeFailure,
} from './home-files.ts';

const WRITE_FAILED = 'rollout.write_failed';

export interface FilesRolloutStoreOptions {
  /** Largest plain size of a rollout, bytes; default 4 GiB. */
  readonly limitBytes?: number;
  readonly openFile?: FileOpener;
}

/** Rollouts as files `<home>/rollouts/<thread_id>.jsonl`, each replaced in one step. */
export class FilesRolloutStore implements RolloutStore {
  readonly #home: string;
  readonly #limitBytes: number;
  readonly #openFile: FileOpener | undefined;
  readonly #swept = new Set<string>();

  constructor(home: string, options: FilesRolloutStoreOptions = {}) {
    this.#home = home;
    this.#limitBytes = options.limitBytes ?? LIMITS.rolloutBytes;
    this.#openFile = options.openFile;
  }

  async put(
    userKey: string,
    threadId: string,
    content: AsyncIterable<Uint8Array>,
    path: string,
    now: number,
  ): Promise<StoredRollout> {
    const file = this.#file(userKey, threadId);
    const hash = createHash('sha256');
    let bytes = 0;
    async function* measured(): AsyncGenerator<Uint8Array> {
      for await (const chunk of content) {
        hash.update(chunk);
        bytes += chunk.length;
        yield chunk;
      }
    }
    const staged = await stageFile(file, measured(), { failureCode: WRITE_FAILED, openFile: this.#openFile });
    await placeFile(staged, file, WRITE_FAILED);
    await this.#sweepOnce(dirname(file));
    return { sha256: hash.digest('hex'), bytes, uploadedAt: now, path, order: null };
  }

  async open(userKey: string, threadId: string): Promise<AsyncIterable<Uint8Array>> {
    const file = this.#file(userKey, threadId);
    await access(file).catch((cause: unknown) => {
      throw readFailure(cause);
    });
    return decompress(readChunks(file), this.#limitBytes);
  }

  /** A file in the folder says nothing of its upload but its bytes and its time. */
  async look(userKey: string, threadId: string): Promise<UploadedRollout | undefined> {
    const file = this.#file(userKey, threadId);
    const hash = createHash('sha256');
    try {
      for await (const chunk of readChunks(file)) hash.update(chunk);
      const { size, mtimeMs } = await stat(file);
      const uploadedAt = Math.trunc(mtimeMs);
      const rollout = { sha256: hash.digest('hex'), bytes: size, uploadedAt, path: basename(file), order: null };
      return { rollout, hints: NO_HINTS };
    } catch (cause) {
      if (cause instanceof NotFoundError) return undefined;
      throw cause instanceof StillroomError ? cause : readFailure(cause);
    }
  }

  async remove(userKey: string, threadId: string): Promise<boolean> {
    const file = this.#file(userKey, threadId);
    try {
      await rm(file);
      return true;
    } catch (cause) {
      if (errorCode(cause) === 'ENOENT') return false;
      throw writeFailure(cause, WRITE_FAILED);
    }
  }

  async #sweepOnce(folder: string): Promise<void> {
    if (this.#swept.has(folder)) return;
    this.#swept.add(folder);
    await sweepStrays(folder);
  }

  #file(userKey: string, threadId: string): string {
    return join(userFolder(this.#home, userKey), 'rollouts', `${requireThreadId(threadId)}.jsonl`);
  }
}

async function* readChunks(file: string): AsyncGenerator<Uint8Array> {
  const stream = createReadStream(file, { highWaterMark: 256 * 1024 });
  try {
    for await (const chunk of stream) if (chunk instanceof Uint8Array) yield chunk;
  } catch (cause) {
    throw readFailure(cause);
  } finally {
    stream.destroy();
  }
}

function readFailure(cause: unknown): NotFoundError | UnavailableError {
  if (errorCode(cause) === 'ENOENT') {
    return new NotFoundError('rollout.not_found', 'there is no rollout of this thread', { cause });
  }
  return new UnavailableError('rollout.read_failed', 'the stored rollout could not be read', {
    details: { system_code: errorCode(cause) ?? null },
    cause,
  });
}
