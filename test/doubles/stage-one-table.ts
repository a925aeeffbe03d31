import type { StageOneBody, StageOneHead } from '../../core/extraction/stage-one-output.ts';
import type { StageOneRow } from '../../core/job/end-job.ts';
import type { Job } from '../../core/job/job.ts';
import { compareBytes } from '../../core/text.ts';

/** What jobs and stage-one outputs share: one row a thread, and the bodies. Give one table to both stores. */
export class StageOneTable {
  readonly consolidations = new Map<string, Job>();
  readonly #rows = new Map<string, Map<string, StageOneRow>>();
  readonly #bodies = new Map<string, Map<string, Map<number, StageOneBody>>>();

  row(userKey: string, threadId: string): StageOneRow | undefined {
    return this.#rows.get(userKey)?.get(threadId);
  }

  setRow(userKey: string, threadId: string, row: StageOneRow): void {
    branch(this.#rows, userKey).set(threadId, row);
  }

  dropRow(userKey: string, threadId: string): void {
    this.#rows.get(userKey)?.delete(threadId);
  }

  setHead(userKey: string, threadId: string, head: StageOneHead | null): void {
    const row = this.row(userKey, threadId);
    if (row !== undefined) this.setRow(userKey, threadId, { ...row, head });
  }

  /** Thread ids ascending by bytes. */
  rows(userKey: string): readonly (readonly [string, StageOneRow])[] {
    return [...(this.#rows.get(userKey)?.entries() ?? [])].sort(([a], [b]) => compareBytes(a, b));
  }

  /** Those that have rows. */
  users(): readonly string[] {
    return [...this.#rows.keys()];
  }

  clear(userKey: string): void {
    this.#rows.delete(userKey);
    this.consolidations.delete(userKey);
  }

  /** Bodies of a user by thread id and snapshot. */
  bodies(userKey: string): Map<string, Map<number, StageOneBody>> {
    return branch(this.#bodies, userKey);
  }
}

/** The inner map under a key, made when it is missing. */
export function branch<K, L, V>(tree: Map<K, Map<L, V>>, key: K): Map<L, V> {
  const found = tree.get(key) ?? new Map<L, V>();
  tree.set(key, found);
  return found;
}
