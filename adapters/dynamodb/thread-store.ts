import { DefectError, UnavailableError } from '../../core/errors.ts';
import type { ThreadMark, ThreadStore } from '../../core/ports/thread-store.ts';
import type { MemoryMode, Thread } from '../../core/thread/thread.ts';
import type { DynamoTable } from './dynamo-table.ts';
import { itemKey } from './requests.ts';
import { SORT_KEYS } from './table.ts';
import {
  listMarks,
  listThreads,
  putThread,
  readMark,
  readThread,
  type StoredThread,
  setMode,
} from './thread-requests.ts';
import { newWriteId } from './write-id.ts';

/** Each try that fails means that somebody else's write went through. */
const MAX_TRIES = 64;

/** The catalogue in DynamoDB: one item a thread, changed over the write it was read from. */
export class DynamoThreadStore implements ThreadStore {
  readonly #table: DynamoTable;

  constructor(table: DynamoTable) {
    this.#table = table;
  }

  async get(userKey: string, threadId: string): Promise<Thread | undefined> {
    return (await this.#read(userKey, threadId))?.thread;
  }

  /** @throws UnavailableError `thread.contended` when others are always faster */
  async update(
    userKey: string,
    threadId: string,
    change: (stored: Thread | undefined) => Thread | undefined,
  ): Promise<Thread | undefined> {
    const writeId = newWriteId();
    let written: Thread | undefined;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const stored = await this.#read(userKey, threadId);
      // the reply to our own write was lost
      if (written !== undefined && stored?.stamp.writeId === writeId) return written;
      const changed = change(stored?.thread);
      if (changed === undefined || changed === stored?.thread) return stored?.thread;
      if (changed.threadId !== threadId)
        throw new DefectError('thread.id_changed', 'a change of a thread must keep its id');
      written = changed;
      const put = putThread(userKey, changed, writeId, stored?.stamp ?? null);
      if ((await this.#table.put(put)) === 'done') return changed;
    }
    throw new UnavailableError('thread.contended', 'the thread is changing too fast; try again', {
      details: { tries: MAX_TRIES },
    });
  }

  async setMemoryMode(userKey: string, threadId: string, mode: MemoryMode): Promise<boolean> {
    const writeId = newWriteId();
    if ((await this.#table.update(setMode(userKey, threadId, mode, writeId))) === 'done') return true;
    return (await this.#read(userKey, threadId))?.stamp.writeId === writeId;
  }

  async list(userKey: string, page: { readonly after?: string; readonly limit: number }): Promise<readonly Thread[]> {
    const request = listThreads(userKey, page.after);
    if (request === undefined || page.limit <= 0) return [];
    return (await this.#table.query(request, page.limit)).map((item) => readThread(item).thread);
  }

  async marks(userKey: string): Promise<readonly ThreadMark[]> {
    return (await this.#table.query(listMarks(userKey))).map(readMark);
  }

  async getMany(userKey: string, threadIds: readonly string[]): Promise<ReadonlyMap<string, Thread>> {
    const keys = threadIds.map((threadId) => itemKey(userKey, SORT_KEYS.thread(threadId)));
    const threads = (await this.#table.batchGet(keys)).map((item) => readThread(item).thread);
    const found = new Map(threads.map((thread) => [thread.threadId, thread]));
    return new Map(
      threadIds.flatMap((threadId) => {
        const thread = found.get(threadId);
        return thread === undefined ? [] : [[threadId, thread] as const];
      }),
    );
  }

  async #read(userKey: string, threadId: string): Promise<StoredThread | undefined> {
    const item = await this.#table.get(itemKey(userKey, SORT_KEYS.thread(threadId)));
    return item === undefined ? undefined : readThread(item);
  }
}
