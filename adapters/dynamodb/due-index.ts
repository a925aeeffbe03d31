import * as z from 'zod/mini';
import { InvalidInputError } from '../../core/errors.ts';
import type { DueIndex, DueJob, DuePage, DueQuery } from '../../core/ports/due-index.ts';
import { findDue, postponeJob } from './due-requests.ts';
import type { DynamoTable, StoredItem } from './dynamo-table.ts';
import { jobOfSortKey, jobSortKey } from './job-item.ts';
import { itemKey } from './requests.ts';
import { DUE_SHARDS, userOfPartition } from './table.ts';
import { newWriteId } from './write-id.ts';

const KEYS = z.object({ pk: z.string(), sk: z.string(), due_pk: z.string(), due_at: z.int() });

/** Due jobs of all users in the sparse index `due`, spread over shards by user. */
export class DynamoDueIndex implements DueIndex {
  readonly shards = DUE_SHARDS;
  readonly #table: DynamoTable;
  readonly #newId: () => string;

  /** @param newId fresh ids of writes */
  constructor(table: DynamoTable, newId: () => string = newWriteId) {
    this.#table = table;
    this.#newId = newId;
  }

  /** @throws InvalidInputError `due.invalid_cursor`; UnavailableError of the table */
  async due(query: DueQuery): Promise<DuePage> {
    const page = await this.#table.queryPage(findDue(query, readPlace(query.after)));
    const jobs = page.items.flatMap((item) => readDueJob(item) ?? []);
    const next = page.next === undefined ? null : JSON.stringify(page.next);
    return { jobs, unreadable: page.items.length - jobs.length, next };
  }

  async postpone(job: DueJob, until: number): Promise<boolean> {
    const touchId = this.#newId();
    if ((await this.#table.update(postponeJob(job, until, touchId))) === 'done') return true;
    const stored = await this.#table.get(itemKey(job.userKey, jobSortKey(job.key)));
    return stored?.['touch_id'] === touchId; // applied by a first try whose reply was lost
  }
}

/** @returns undefined for an item that names no job */
function readDueJob(item: StoredItem): DueJob | undefined {
  const reading = KEYS.safeParse(item);
  if (!reading.success) return undefined;
  const { pk, sk, due_at } = reading.data;
  const [userKey, key] = [userOfPartition(pk), jobOfSortKey(sk)];
  return userKey === undefined || key === undefined ? undefined : { userKey, key, dueAt: due_at };
}

function readPlace(after: string | null): z.infer<typeof KEYS> | undefined {
  if (after === null) return undefined;
  const reading = KEYS.safeParse(parseJson(after));
  if (reading.success) return reading.data;
  throw new InvalidInputError('due.invalid_cursor', 'after must be the `next` of a page');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // refused by the shape like any other wrong value
  }
}
