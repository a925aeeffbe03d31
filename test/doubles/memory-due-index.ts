import { consolidationDueAt } from '../../core/job/claim-consolidation.ts';
import { extractionDueAt } from '../../core/job/claim-extraction.ts';
import type { Job, JobKey } from '../../core/job/job.ts';
import type { DueIndex, DueJob, DuePage, DueQuery } from '../../core/ports/due-index.ts';
import type { StageOneTable } from './stage-one-table.ts';

interface Entry extends DueJob {
  readonly job: Job;
}

/** Due jobs of a `StageOneTable`, sought through all of it. A postponement holds while the job is the very same. */
export class MemoryDueIndex implements DueIndex {
  readonly shards: number;
  readonly #table: StageOneTable;
  readonly #postponed = new WeakMap<Job, number>();

  constructor(table: StageOneTable, shards = 3) {
    this.#table = table;
    this.shards = shards;
  }

  async due(query: DueQuery): Promise<DuePage> {
    const entries = this.#entries(query.kind)
      .filter(({ userKey, dueAt }) => dueAt <= query.now && this.#shardOf(userKey) === query.shard)
      .sort((a, b) => a.dueAt - b.dueAt || (placeOf(a) < placeOf(b) ? -1 : 1));
    const rest = query.after === null ? entries : entries.filter((entry) => isAfter(entry, query.after ?? ''));
    const jobs = rest.slice(0, query.limit).map(({ userKey, key, dueAt }) => ({ userKey, key, dueAt }));
    const last = jobs.at(-1);
    return { jobs, unreadable: 0, next: last === undefined || rest.length <= jobs.length ? null : placeOf(last) };
  }

  async postpone(job: DueJob, until: number): Promise<boolean> {
    const entry = this.#entries(job.key.kind).find((found) => placeOf(found) === placeOf(job));
    if (entry === undefined) return false;
    this.#postponed.set(entry.job, until);
    return true;
  }

  #entries(kind: JobKey['kind']): Entry[] {
    const jobs: (readonly [string, JobKey, Job])[] =
      kind === 'consolidation'
        ? [...this.#table.consolidations].map(([userKey, job]) => [userKey, { kind }, job])
        : this.#table
            .users()
            .flatMap((userKey) =>
              this.#table
                .rows(userKey)
                .map(([threadId, row]): readonly [string, JobKey, Job] => [userKey, { kind, threadId }, row.job]),
            );
    return jobs.flatMap(([userKey, key, job]) => {
      const dueAt = kind === 'consolidation' ? consolidationDueAt(job) : extractionDueAt(job);
      return dueAt === null ? [] : [{ userKey, key, job, dueAt: this.#postponed.get(job) ?? dueAt }];
    });
  }

  #shardOf(userKey: string): number {
    return [...userKey].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % this.shards;
  }
}

function placeOf({ userKey, key, dueAt }: DueJob): string {
  return JSON.stringify([dueAt, userKey, key.kind === 'extraction' ? key.threadId : '']);
}

function isAfter(entry: DueJob, place: string): boolean {
  const dueAt = Number(/^\[(-?\d+),/.exec(place)?.[1]);
  return entry.dueAt > dueAt || (entry.dueAt === dueAt && placeOf(entry) > place);
}
