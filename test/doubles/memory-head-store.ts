import type { Head } from '../../core/consolidation/manifest.ts';
import type { HeadStore, SwitchRequest } from '../../core/ports/head-store.ts';

const EMPTY: Head = { version: 0, publishedAt: null, summary: '', pendingNotes: [], places: [], epoch: 0, fence: null };

/** Heads held in memory. */
export class MemoryHeadStore implements HeadStore {
  readonly #heads = new Map<string, Head>();

  async read(userKey: string): Promise<Head> {
    return this.#heads.get(userKey) ?? EMPTY;
  }

  async setFence(userKey: string, token: string): Promise<Head> {
    return this.#write(userKey, { ...(await this.read(userKey)), fence: token });
  }

  async switchTo(userKey: string, request: SwitchRequest): Promise<'switched' | 'lost'> {
    const head = this.#heads.get(userKey) ?? EMPTY;
    const { from, epoch, fence, to } = request;
    if (head.version !== from || head.epoch !== epoch || (fence !== null && head.fence !== fence)) return 'lost';
    this.#write(userKey, {
      ...head,
      version: to.version,
      publishedAt: to.publishedAt,
      summary: to.summary,
      pendingNotes: structuredClone(to.pendingNotes),
      places: structuredClone(to.places),
    });
    return 'switched';
  }

  async reset(userKey: string): Promise<Head> {
    return this.#write(userKey, { ...EMPTY, epoch: (await this.read(userKey)).epoch + 1 });
  }

  #write(userKey: string, head: Head): Head {
    this.#heads.set(userKey, head);
    return head;
  }
}
