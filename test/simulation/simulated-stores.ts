import { UnavailableError } from '../../core/errors.ts';
import { sha256Hex } from '../../core/ids.ts';
import { consolidationDueAt } from '../../core/job/claim-consolidation.ts';
import { extractionDueAt } from '../../core/job/claim-extraction.ts';
import type { DueIndex, DueJob, DuePage, DueQuery } from '../../core/ports/due-index.ts';
import type { StageOneTable } from '../doubles/stage-one-table.ts';

/** The index of due jobs over the in-memory table, in 16 shards as on AWS, with a count of its requests. */
export class SimulatedDueIndex implements DueIndex {
  readonly shards = 16;
  queries = 0;
  readonly #table: StageOneTable;
  readonly #users: readonly string[];
  readonly #postponed = new Map<string, { readonly from: number; readonly until: number }>();
  #scan: { readonly now: number; readonly jobs: Map<string, DueJob[]> } | undefined;

  constructor(table: StageOneTable, users: readonly string[]) {
    this.#table = table;
    this.#users = users;
  }

  async due({ kind, shard, now, limit, after }: DueQuery): Promise<DuePage> {
    this.queries++;
    if (this.#scan?.now !== now) this.#scan = { now, jobs: this.#collect(now) };
    const found = this.#scan.jobs.get(`${kind}/${shard}`) ?? [];
    const from = after === null ? 0 : Number(after);
    const jobs = found.slice(from, from + limit);
    return { jobs, unreadable: 0, next: from + limit < found.length ? String(from + limit) : null };
  }

  async postpone(job: DueJob, until: number): Promise<boolean> {
    this.#postponed.set(nameOf(job), { from: job.dueAt, until });
    return true;
  }

  #collect(now: number): Map<string, DueJob[]> {
    const jobs = new Map<string, DueJob[]>();
    const add = (job: Omit<DueJob, 'dueAt'>, own: number | null): void => {
      if (own === null) return;
      const postponed = this.#postponed.get(nameOf(job));
      const dueAt = postponed?.from === own ? postponed.until : own;
      if (dueAt > now) return;
      const place = `${job.key.kind}/${shardOf(job.userKey)}`;
      jobs.set(place, [...(jobs.get(place) ?? []), { ...job, dueAt: own }]);
    };
    for (const userKey of this.#users) {
      add({ userKey, key: { kind: 'consolidation' } }, consolidationDueAt(this.#table.consolidations.get(userKey)));
      for (const [threadId, { job }] of this.#table.rows(userKey)) {
        add({ userKey, key: { kind: 'extraction', threadId } }, extractionDueAt(job));
      }
    }
    for (const list of jobs.values()) list.sort((left, right) => left.dueAt - right.dueAt);
    return jobs;
  }
}

function nameOf({ userKey, key }: Omit<DueJob, 'dueAt'>): string {
  return key.kind === 'extraction' ? `${userKey}/${key.threadId}` : userKey;
}

const shards = new Map<string, number>();
function shardOf(userKey: string): number {
  const known = shards.get(userKey) ?? Number.parseInt(sha256Hex(userKey).slice(0, 4), 16) % 16;
  shards.set(userKey, known);
  return known;
}

/** A store whose every call may fail as a throttled one does. */
export function throttled<T extends object>(store: T, fails: () => boolean): T {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (fails()) return Promise.reject(new UnavailableError('table.throttled', 'simulated throttling'));
        return Reflect.apply(value, target, args);
      };
    },
  });
}
