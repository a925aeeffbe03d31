import type { BodyShelf } from '../../adapters/dynamodb/body-shelf.ts';
import type { SnapshotRef } from '../../core/extraction/stage-one-output.ts';

/** Packed texts held in memory. */
export class MemoryBodyShelf implements BodyShelf {
  readonly #users = new Map<string, Map<string, { readonly ref: SnapshotRef; readonly bytes: Uint8Array }>>();

  async put(userKey: string, ref: SnapshotRef, bytes: Uint8Array): Promise<void> {
    const { threadId, sourceUpdatedAt } = ref;
    const held = this.#users.get(userKey) ?? new Map();
    held.set(nameOf(ref), { ref: { threadId, sourceUpdatedAt }, bytes: bytes.slice() });
    this.#users.set(userKey, held);
  }

  async get(userKey: string, ref: SnapshotRef): Promise<Uint8Array | undefined> {
    return this.#users.get(userKey)?.get(nameOf(ref))?.bytes.slice();
  }

  async remove(userKey: string, ref: SnapshotRef): Promise<void> {
    this.#users.get(userKey)?.delete(nameOf(ref));
  }

  async list(userKey: string): Promise<readonly SnapshotRef[]> {
    return [...(this.#users.get(userKey)?.values() ?? [])].map(({ ref }) => ref);
  }
}

function nameOf(ref: SnapshotRef): string {
  return `${ref.threadId}#${ref.sourceUpdatedAt}`;
}
