import type { ThreadMark, ThreadStore } from '../../core/ports/thread-store.ts';
import { compareBytes } from '../../core/text.ts';
import type { MemoryMode, Thread } from '../../core/thread/thread.ts';

/** The catalogue held in memory. */
export class MemoryThreadStore implements ThreadStore {
  readonly #users = new Map<string, Map<string, Thread>>();

  async get(userKey: string, threadId: string): Promise<Thread | undefined> {
    return this.#users.get(userKey)?.get(threadId);
  }

  async update(
    userKey: string,
    threadId: string,
    change: (stored: Thread | undefined) => Thread | undefined,
  ): Promise<Thread | undefined> {
    const stored = this.#users.get(userKey)?.get(threadId);
    const changed = change(stored);
    if (changed === undefined) return stored;
    if (changed.threadId !== threadId) throw new Error(`update of ${threadId} answered ${changed.threadId}`);
    this.#threads(userKey).set(threadId, structuredClone(changed));
    return changed;
  }

  async setMemoryMode(userKey: string, threadId: string, mode: MemoryMode): Promise<boolean> {
    const stored = this.#users.get(userKey)?.get(threadId);
    if (stored === undefined || stored.memoryMode === mode) return false;
    this.#threads(userKey).set(threadId, { ...stored, memoryMode: mode });
    return true;
  }

  async list(userKey: string, page: { readonly after?: string; readonly limit: number }): Promise<readonly Thread[]> {
    const { after } = page;
    return [...(this.#users.get(userKey)?.values() ?? [])]
      .filter((thread) => after === undefined || compareBytes(thread.threadId, after) > 0)
      .sort((left, right) => compareBytes(left.threadId, right.threadId))
      .slice(0, Math.max(0, page.limit));
  }

  async marks(userKey: string): Promise<readonly ThreadMark[]> {
    const threads = await this.list(userKey, { limit: Number.POSITIVE_INFINITY });
    return threads
      .filter((thread) => thread.forgottenAt === null)
      .map(({ threadId, updatedAt, rollout, reading }) => ({
        threadId,
        updatedAt,
        uploadedAt: rollout.uploadedAt,
        redactions: reading?.redactions ?? {},
      }));
  }

  async getMany(userKey: string, threadIds: readonly string[]): Promise<ReadonlyMap<string, Thread>> {
    const found = new Map<string, Thread>();
    for (const threadId of threadIds) {
      const thread = this.#users.get(userKey)?.get(threadId);
      if (thread !== undefined) found.set(threadId, thread);
    }
    return found;
  }

  #threads(userKey: string): Map<string, Thread> {
    const threads = this.#users.get(userKey) ?? new Map<string, Thread>();
    this.#users.set(userKey, threads);
    return threads;
  }
}
