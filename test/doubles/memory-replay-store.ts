import { DefectError } from '../../core/errors.ts';
import type { ReplayRef, ReplayStore } from '../../core/ports/replay-store.ts';

/** Records held in memory. Tests may look at, and damage, what is kept. */
export class MemoryReplayStore implements ReplayStore {
  /** By user key, then by name. Null: what lies there cannot be read. */
  readonly kept = new Map<string, Map<string, { readonly ref: ReplayRef; text: string | null }>>();

  async put(userKey: string, { epoch, version, createdAt }: ReplayRef, text: string): Promise<void> {
    const ref = { epoch, version, createdAt };
    this.#of(userKey).set(nameOf(ref), { ref, text });
  }

  async read(userKey: string, ref: ReplayRef): Promise<string | undefined> {
    const text = this.#of(userKey).get(nameOf(ref))?.text;
    if (text === null) throw new DefectError('replay.unreadable', 'the record of a run is cut off or damaged');
    return text;
  }

  async list(userKey: string): Promise<readonly ReplayRef[]> {
    const refs = [...this.#of(userKey).values()].map(({ ref }) => ref);
    return refs.sort((left, right) => left.epoch - right.epoch || left.version - right.version);
  }

  async remove(userKey: string, refs: readonly ReplayRef[]): Promise<void> {
    for (const ref of refs) this.#of(userKey).delete(nameOf(ref));
  }

  #of(userKey: string): Map<string, { readonly ref: ReplayRef; text: string | null }> {
    const known = this.kept.get(userKey) ?? new Map();
    this.kept.set(userKey, known);
    return known;
  }
}

function nameOf({ epoch, version, createdAt }: ReplayRef): string {
  return `${epoch}-${version}-${createdAt}`;
}
