import { UnavailableError } from '../../core/errors.ts';
import type { Outcome } from '../../core/extraction/outcome.ts';
import type { StageOneHead } from '../../core/extraction/stage-one-output.ts';
import { claimConsolidation } from '../../core/job/claim-consolidation.ts';
import { claimExtraction } from '../../core/job/claim-extraction.ts';
import { completeConsolidation, completeExtraction, failJob, type StageOneRow } from '../../core/job/end-job.ts';
import type { Claim, ClaimRequest, Completion, Failure, Job, JobKey } from '../../core/job/job.ts';
import { enqueueConsolidation, recordOutcome, redriveExtraction, wakeExtraction } from '../../core/job/revive-job.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import type { DynamoTable } from './dynamo-table.ts';
import { inParallel } from './in-parallel.ts';
import { jobSortKey, readJobItem, type Stamp, type StoredJob, threadOf } from './job-item.ts';
import { deleteJob, extendJobLease, type JobPlace, putJob } from './job-requests.ts';
import { itemKey, rangeOf } from './requests.ts';
import { SORT_KEYS, SORT_PREFIXES } from './table.ts';
import { newWriteId } from './write-id.ts';

/** Each lost round was won by somebody else, so this many writers at once would have to fight over one job. */
const MAX_ROUNDS = 60;

/** What a transition makes of a stored row; `row` undefined leaves it as it is. */
interface Change<T> {
  readonly row: StageOneRow | undefined;
  readonly answer: T;
}

/**
 * Jobs in the table. A change reads the item, applies the transition of `core/job/` and writes it back in one conditional
 * write, again when somebody else wrote first. A write that was applied although its reply was lost fails its own condition
 * when the SDK repeats it: it is known again by its write id, or by the token where others wrote since (user case C22).
 * @throws UnavailableError `table.contended` besides the failures of the table
 */
export class DynamoJobStore implements JobStore {
  readonly #table: DynamoTable;
  readonly #newId: () => string;

  /** @param newId fresh ids of writes */
  constructor(table: DynamoTable, newId: () => string = newWriteId) {
    this.#table = table;
    this.#newId = newId;
  }

  async get(userKey: string, key: JobKey): Promise<Job | undefined> {
    return (await this.#read({ userKey, key }))?.row.job;
  }

  async listExtractions(userKey: string): Promise<ReadonlyMap<string, Job>> {
    const items = await this.#table.query(rangeOf(userKey, SORT_PREFIXES.stageOne));
    return new Map(items.map((item) => [threadOf(String(item['sk'])), readJobItem(item).row.job]));
  }

  async claim(userKey: string, key: JobKey, request: ClaimRequest): Promise<Claim> {
    return this.#change({ userKey, key }, (stored) => {
      const decision =
        key.kind === 'extraction'
          ? claimExtraction(stored?.job, stored?.head?.sourceUpdatedAt ?? null, request)
          : claimConsolidation(stored?.job, request);
      return { row: withJob(stored, decision.job), answer: decision.claim };
    });
  }

  /** One write without a read. It may be repeated, so a lost reply needs no care. */
  async heartbeat(
    userKey: string,
    key: JobKey,
    token: string,
    at: { readonly now: number; readonly leaseMs: number },
  ): Promise<boolean> {
    const request = extendJobLease({ userKey, key }, token, at.now + Math.max(0, at.leaseMs));
    return (await this.#table.update(request)) === 'done';
  }

  async complete(userKey: string, token: string, now: number, completion: Completion): Promise<boolean> {
    const key: JobKey =
      completion.kind === 'extraction'
        ? { kind: 'extraction', threadId: completion.threadId }
        : { kind: 'consolidation' };
    const decide = (stored: StageOneRow | undefined) =>
      completion.kind === 'extraction'
        ? completeExtraction(stored, token, now, completion)
        : withJob(stored, completeConsolidation(stored?.job, token, now, completion.completedWatermark));
    return this.#change({ userKey, key }, (stored) => changed(decide(stored)), endedBy(token, now));
  }

  async fail(userKey: string, key: JobKey, token: string, failure: Failure): Promise<boolean> {
    return this.#change(
      { userKey, key },
      (stored) => changed(withJob(stored, failJob(key.kind, stored?.job, token, failure))),
      endedBy(token, failure.now),
    );
  }

  async enqueueConsolidation(userKey: string, watermark: number): Promise<void> {
    await this.#apply({ userKey, key: { kind: 'consolidation' } }, (job) => enqueueConsolidation(job, watermark));
  }

  async recordOutcome(userKey: string, threadId: string, outcome: Outcome, wakeAt?: number): Promise<void> {
    const key: JobKey = { kind: 'extraction', threadId };
    await this.#apply({ userKey, key }, (job) => recordOutcome(job, outcome, wakeAt ?? null));
  }

  async wake(userKey: string, threadId: string, at: number | null): Promise<void> {
    await this.#apply({ userKey, key: { kind: 'extraction', threadId } }, (job) => wakeExtraction(job, at));
  }

  /** One thread after another is changed, each at once; repeating it revives what a first call left. */
  async redrive(userKey: string): Promise<readonly string[]> {
    const jobs = [...(await this.listExtractions(userKey))];
    const failed = jobs.filter(([, job]) => redriveExtraction(job) !== undefined).map(([threadId]) => threadId);
    const revived = await inParallel(failed, (threadId) =>
      this.#apply({ userKey, key: { kind: 'extraction', threadId } }, (job) => job && redriveExtraction(job)),
    );
    return failed.filter((_, at) => revived[at]);
  }

  async removeExtraction(userKey: string, threadId: string): Promise<StageOneHead | undefined> {
    const place: JobPlace = { userKey, key: { kind: 'extraction', threadId } };
    let head: StageOneHead | undefined;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const stored = await this.#read(place);
      if (stored === undefined) return head; // never there, or gone by our own delete whose reply was lost
      head = stored.row.head ?? undefined;
      if ((await this.#table.delete(deleteJob(place, stored.stamp))) === 'done') return head;
    }
    throw contended();
  }

  /** Item by item, since there are no transactions: a run in flight loses its job at the latest when this ends. Repeat it after a failure. */
  async clear(userKey: string): Promise<void> {
    const extractions = await this.#table.query({
      ...rangeOf(userKey, SORT_PREFIXES.stageOne),
      ProjectionExpression: 'sk',
    });
    const sortKeys = [SORT_KEYS.consolidation, ...extractions.map((item) => String(item['sk']))];
    await this.#table.deleteMany(sortKeys.map((sortKey) => itemKey(userKey, sortKey)));
  }

  async #read({ userKey, key }: JobPlace): Promise<StoredJob | undefined> {
    const item = await this.#table.get(itemKey(userKey, jobSortKey(key)));
    return item && readJobItem(item);
  }

  /** One atomic change of a job alone. @returns false when the transition left it as it is */
  async #apply(place: JobPlace, transition: (job: Job | undefined) => Job | undefined): Promise<boolean> {
    return this.#change(place, (stored) => changed(withJob(stored, transition(stored?.job))));
  }

  /**
   * One atomic change.
   * @param decide pure: it is asked again when somebody else wrote first
   * @param isOurs tells from a job as stored now that our last write was applied, whoever wrote after it
   */
  async #change<T>(
    place: JobPlace,
    decide: (stored: StageOneRow | undefined) => Change<T>,
    isOurs: (job: Job) => boolean = () => false,
  ): Promise<T> {
    let last: { readonly writeId: string; readonly answer: T } | undefined;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const stored = await this.#read(place);
      if (last !== undefined && stored !== undefined) {
        if (isWrittenAs(stored.stamp, last.writeId) || isOurs(stored.row.job)) return last.answer;
      }
      const { row, answer } = decide(stored?.row);
      if (row === undefined) return answer;
      const writeId = this.#newId();
      if ((await this.#table.put(putJob(place, row, stored?.stamp, writeId))) === 'done') return answer;
      last = { writeId, answer };
    }
    throw contended();
  }
}

/** True when the last whole write, or the one before it, had this id. */
function isWrittenAs(stamp: Stamp, writeId: string): boolean {
  return stamp.writeId === writeId || stamp.formerId === writeId;
}

function withJob(stored: StageOneRow | undefined, job: Job | undefined): StageOneRow | undefined {
  return job && { job, head: stored?.head ?? null };
}

function changed(row: StageOneRow | undefined): Change<boolean> {
  return { row, answer: row !== undefined };
}

/** Only who held the token could end the job under it at that time. */
function endedBy(token: string, at: number): (job: Job) => boolean {
  return (job) => job.status !== 'running' && job.token === token && job.finishedAt === at;
}

function contended(): UnavailableError {
  return new UnavailableError('table.contended', 'too many writers at one job', { details: { rounds: MAX_ROUNDS } });
}
