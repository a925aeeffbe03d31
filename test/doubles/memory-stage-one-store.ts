import type { SnapshotRef, StageOneBody, StageOneHead } from '../../core/extraction/stage-one-output.ts';
import type { StageOneStore } from '../../core/ports/stage-one-store.ts';
import { LIMITS } from '../../core/settings.ts';
import { branch, StageOneTable } from './stage-one-table.ts';

/** Stage-one outputs held in memory. Heads come from a `MemoryJobStore` on the same table. */
export class MemoryStageOneStore implements StageOneStore {
  readonly table: StageOneTable;
  /** By user and thread: the id of the last use, where it had one, and its time. */
  readonly #lastUse = new Map<string, { readonly useId: string | undefined; readonly at: number }>();

  constructor(table = new StageOneTable()) {
    this.table = table;
  }

  async putBody(userKey: string, ref: SnapshotRef, body: StageOneBody): Promise<void> {
    branch(this.table.bodies(userKey), ref.threadId).set(ref.sourceUpdatedAt, { ...body });
  }

  async heads(userKey: string): Promise<readonly StageOneHead[]> {
    return this.table.rows(userKey).flatMap(([, row]) => (row.head === null ? [] : [row.head]));
  }

  async head(userKey: string, threadId: string): Promise<StageOneHead | undefined> {
    return this.table.row(userKey, threadId)?.head ?? undefined;
  }

  async bodies(userKey: string, refs: readonly SnapshotRef[]): Promise<ReadonlyMap<string, StageOneBody>> {
    const found = new Map<string, StageOneBody>();
    for (const ref of refs) {
      const body = this.table.bodies(userKey).get(ref.threadId)?.get(ref.sourceUpdatedAt);
      if (body !== undefined) found.set(ref.threadId, body);
    }
    return found;
  }

  async recordUsage(
    userKey: string,
    threadIds: readonly string[],
    now: number,
    useId?: string,
  ): Promise<readonly string[]> {
    const nameOf = (threadId: string): string => JSON.stringify([userKey, threadId]);
    const isRepeated = (threadId: string): boolean => {
      const last = this.#lastUse.get(nameOf(threadId));
      return last?.useId !== undefined && last.useId === useId && last.at > now - LIMITS.receiptMs;
    };
    const repeated = new Set(threadIds.filter(isRepeated));
    return threadIds.filter((threadId) => {
      const head = this.table.row(userKey, threadId)?.head;
      if (!head) return false;
      if (repeated.has(threadId)) return true;
      this.#lastUse.set(nameOf(threadId), { useId, at: now });
      this.table.setHead(userKey, threadId, { ...head, usageCount: (head.usageCount ?? 0) + 1, lastUsage: now });
      return true;
    });
  }

  async markSelected(userKey: string, refs: readonly SnapshotRef[]): Promise<void> {
    const chosen = new Set(refs.map((ref) => `${ref.threadId} ${ref.sourceUpdatedAt}`));
    for (const [threadId, { head }] of this.table.rows(userKey)) {
      if (head === null) continue;
      const selected = chosen.has(`${threadId} ${head.sourceUpdatedAt}`);
      this.table.setHead(userKey, threadId, { ...head, selectedSnapshot: selected ? head.sourceUpdatedAt : null });
    }
  }

  async remove(
    userKey: string,
    refs: readonly SnapshotRef[],
    options: { readonly onlyUnselected: boolean },
  ): Promise<number> {
    let removed = 0;
    for (const ref of refs) {
      const head = this.table.row(userKey, ref.threadId)?.head;
      if (!head || head.sourceUpdatedAt !== ref.sourceUpdatedAt) continue;
      if (options.onlyUnselected && head.selectedSnapshot !== null) continue;
      this.table.setHead(userKey, ref.threadId, null);
      this.table.bodies(userKey).get(ref.threadId)?.delete(ref.sourceUpdatedAt);
      removed += 1;
    }
    return removed;
  }

  async removeOrphanBodies(userKey: string): Promise<number> {
    let removed = 0;
    for (const [threadId, snapshots] of this.table.bodies(userKey)) {
      const row = this.table.row(userKey, threadId);
      if (row?.job.status === 'running') continue;
      for (const snapshot of [...snapshots.keys()]) {
        if (snapshot !== row?.head?.sourceUpdatedAt && snapshots.delete(snapshot)) removed += 1;
      }
    }
    return removed;
  }
}
