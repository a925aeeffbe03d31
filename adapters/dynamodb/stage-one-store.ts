import type { SnapshotRef, StageOneBody, StageOneHead } from '../../core/extraction/stage-one-output.ts';
import type { StageOneStore } from '../../core/ports/stage-one-store.ts';
import { packBody, unpackBody } from './body-codec.ts';
import { type ListedBody, readBodyItem, readListedBody } from './body-item.ts';
import type { BodyShelf } from './body-shelf.ts';
import type { DynamoTable, StoredItem, UpdateRequest } from './dynamo-table.ts';
import { inParallel } from './in-parallel.ts';
import { readJobItem, type StoredJob, threadOf } from './job-item.ts';
import { itemKey, rangeOf } from './requests.ts';
import {
  bodyKey,
  clearMark,
  countUse,
  dropBody,
  dropHead,
  listBodies,
  markSnapshot,
  putBodyItem,
} from './stage-one-requests.ts';
import { SORT_KEYS, SORT_PREFIXES } from './table.ts';
import { newWriteId } from './write-id.ts';

/** Bytes after compression. An item may have 400 KB with its names and keys (user case C19). */
export const MAX_ITEM_BODY_BYTES = 350 * 1024;

/** Stage-one outputs in the table; heads are written by `DynamoJobStore.complete` into the same items. */
export class DynamoStageOneStore implements StageOneStore {
  readonly #table: DynamoTable;
  readonly #shelf: BodyShelf;
  readonly #newId: () => string;

  /**
   * @param shelf for texts that are too large for an item
   * @param newId fresh ids of writes
   */
  constructor(table: DynamoTable, shelf: BodyShelf, newId: () => string = newWriteId) {
    this.#table = table;
    this.#shelf = shelf;
    this.#newId = newId;
  }

  async putBody(userKey: string, ref: SnapshotRef, body: StageOneBody): Promise<void> {
    const packed = packBody(body);
    const fits = packed.length <= MAX_ITEM_BODY_BYTES;
    if (!fits) await this.#shelf.put(userKey, ref, packed);
    await this.#table.put(putBodyItem(userKey, ref, fits ? packed : null, this.#newId()));
  }

  async heads(userKey: string): Promise<readonly StageOneHead[]> {
    return (await this.#rows(userKey)).flatMap(({ row }) => row.head ?? []);
  }

  async head(userKey: string, threadId: string): Promise<StageOneHead | undefined> {
    return (await this.#row(userKey, threadId))?.row.head ?? undefined;
  }

  async bodies(userKey: string, refs: readonly SnapshotRef[]): Promise<ReadonlyMap<string, StageOneBody>> {
    const items = await this.#table.batchGet(refs.map((ref) => bodyKey(userKey, ref)));
    const found = new Map(items.map((item) => [item['sk'], item]));
    const bodies = await inParallel(refs, async (ref): Promise<[string, StageOneBody][]> => {
      const body = await this.#body(userKey, ref, found.get(bodyKey(userKey, ref).sk));
      return body === undefined ? [] : [[ref.threadId, body]];
    });
    return new Map(bodies.flat());
  }

  /** A use under an id is known again until something else touches the thread's item. */
  async recordUsage(
    userKey: string,
    threadIds: readonly string[],
    now: number,
    useId?: string,
  ): Promise<readonly string[]> {
    const times = new Map<string, number>();
    for (const threadId of threadIds) times.set(threadId, (times.get(threadId) ?? 0) + 1);
    const counted = await inParallel([...times], async ([threadId, count]) => {
      const touchId = useId ?? this.#newId();
      const request = countUse(userKey, threadId, { times: count, now }, touchId);
      return (await this.#touch(userKey, threadId, request, touchId)) ? threadId : undefined;
    });
    return threadIds.filter((threadId) => counted.includes(threadId));
  }

  /** Writes only the marks that change, each at once; repeating it finishes what a first call left. */
  async markSelected(userKey: string, refs: readonly SnapshotRef[]): Promise<void> {
    const chosen = new Set(refs.map(nameOf));
    await inParallel(await this.heads(userKey), async (head) => {
      const mark = chosen.has(nameOf(head)) ? head.sourceUpdatedAt : null;
      if (mark === head.selectedSnapshot) return;
      const marked = mark !== null && (await this.#table.update(markSnapshot(userKey, head))) === 'done';
      if (!marked && head.selectedSnapshot !== null) await this.#table.update(clearMark(userKey, head.threadId));
    });
  }

  async remove(
    userKey: string,
    refs: readonly SnapshotRef[],
    options: { readonly onlyUnselected: boolean },
  ): Promise<number> {
    const removed = await inParallel(refs, async (ref) => {
      const touchId = this.#newId();
      const request = dropHead(userKey, ref, options.onlyUnselected, touchId);
      if (!(await this.#touch(userKey, ref.threadId, request, touchId))) return 0;
      await this.#removeBody(userKey, ref);
      return 1;
    });
    return removed.reduce<number>((sum, count) => sum + count, 0);
  }

  /**
   * The texts are listed before the jobs, so that texts of a run that commits meanwhile have a head by then; texts that were
   * written again since are left alone.
   */
  async removeOrphanBodies(userKey: string): Promise<number> {
    const shelved = await this.#shelf.list(userKey);
    const listed = (await this.#table.query(listBodies(userKey))).map(readListedBody);
    const kept = await this.#keptBodies(userKey);
    const orphans = listed.filter(({ ref }) => !kept.running.has(ref.threadId) && !kept.named.has(nameOf(ref)));
    const dropped = await inParallel(orphans, (body) => this.#dropOrphan(userKey, body));

    // A run that died before it wrote the pointer left these, or one whose texts became small enough for the item.
    const pointers = new Set(listed.filter(({ onShelf }) => onShelf).map(({ ref }) => nameOf(ref)));
    const strays = shelved.filter((ref) => !kept.running.has(ref.threadId) && !pointers.has(nameOf(ref)));
    await inParallel(strays, (ref) => this.#shelf.remove(userKey, ref));
    const items = new Set(listed.map(({ ref }) => nameOf(ref)));
    return dropped.filter(Boolean).length + strays.filter((ref) => !items.has(nameOf(ref))).length;
  }

  async #rows(userKey: string): Promise<StoredJob[]> {
    return (await this.#table.query(rangeOf(userKey, SORT_PREFIXES.stageOne))).map(readJobItem);
  }

  async #row(userKey: string, threadId: string): Promise<StoredJob | undefined> {
    const item = await this.#table.get(itemKey(userKey, SORT_KEYS.stageOne(threadId)));
    return item && readJobItem(item);
  }

  /** A partial write of a head. @returns false when its condition failed, and not because a first try was applied already */
  async #touch(userKey: string, threadId: string, request: UpdateRequest, touchId: string): Promise<boolean> {
    if ((await this.#table.update(request)) === 'done') return true;
    return (await this.#row(userKey, threadId))?.stamp.touchId === touchId;
  }

  async #body(userKey: string, ref: SnapshotRef, item: StoredItem | undefined): Promise<StageOneBody | undefined> {
    if (item === undefined) return undefined;
    const content = readBodyItem(item);
    const packed = content === 'on_shelf' ? await this.#shelf.get(userKey, ref) : content;
    return packed && unpackBody(packed);
  }

  /** The pointer goes first: a shelf without a pointer is a stray, a pointer without its shelf a loss. */
  async #removeBody(userKey: string, ref: SnapshotRef): Promise<void> {
    const item = await this.#table.get(bodyKey(userKey, ref));
    if (item === undefined) return;
    const onShelf = readBodyItem(item) === 'on_shelf';
    await this.#table.deleteMany([bodyKey(userKey, ref)]);
    if (onShelf) await this.#shelf.remove(userKey, ref);
  }

  async #dropOrphan(userKey: string, { ref, writeId, onShelf }: ListedBody): Promise<boolean> {
    if ((await this.#table.delete(dropBody(userKey, ref, writeId))) === 'failed') return false;
    if (onShelf) await this.#shelf.remove(userKey, ref);
    return true;
  }

  async #keptBodies(userKey: string): Promise<{ readonly running: Set<string>; readonly named: Set<string> }> {
    const items = await this.#table.query(rangeOf(userKey, SORT_PREFIXES.stageOne));
    const rows = items.map((item) => ({ threadId: threadOf(String(item['sk'])), ...readJobItem(item).row }));
    return {
      running: new Set(rows.filter(({ job }) => job.status === 'running').map(({ threadId }) => threadId)),
      named: new Set(rows.flatMap(({ head }) => (head === null ? [] : [nameOf(head)]))),
    };
  }
}

/** Names a snapshot among those of one user. */
function nameOf(ref: SnapshotRef): string {
  return `${ref.threadId}#${ref.sourceUpdatedAt}`;
}
