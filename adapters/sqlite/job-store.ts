import type { Outcome } from '../../core/extraction/outcome.ts';
import type { StageOneHead } from '../../core/extraction/stage-one-output.ts';
import { claimConsolidation, consolidationDueAt } from '../../core/job/claim-consolidation.ts';
import { claimExtraction, extractionDueAt } from '../../core/job/claim-extraction.ts';
import {
  completeConsolidation,
  completeExtraction,
  extendLease,
  failJob,
  type StageOneRow,
} from '../../core/job/end-job.ts';
import type { Claim, ClaimRequest, Completion, Failure, Job, JobKey } from '../../core/job/job.ts';
import { enqueueConsolidation, recordOutcome, redriveExtraction, wakeExtraction } from '../../core/job/revive-job.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import type { Database } from './database.ts';
import { HEAD_COLUMNS, headValues, JOB_COLUMNS, jobValues, readJob, readStageOneRow } from './stage-one-row.ts';

const GET_ROW = `SELECT thread_id, ${JOB_COLUMNS}, ${HEAD_COLUMNS} FROM stage1 WHERE user_key = ? AND thread_id = ?`;
const PUT_ROW = `INSERT OR REPLACE INTO stage1 (user_key, thread_id, ${JOB_COLUMNS}, ${HEAD_COLUMNS}) VALUES (${marks(26)})`;
const LIST_JOBS = `SELECT thread_id, ${JOB_COLUMNS} FROM stage1 WHERE user_key = ? ORDER BY thread_id`;
const GET_CONSOLIDATION = `SELECT ${JOB_COLUMNS} FROM consolidation WHERE user_key = ?`;
const PUT_CONSOLIDATION = `INSERT OR REPLACE INTO consolidation (user_key, ${JOB_COLUMNS}) VALUES (${marks(16)})`;

/** Jobs in SQLite: each method reads, applies the transition of `core/job/` and writes in one immediate transaction. */
export class SqliteJobStore implements JobStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async get(userKey: string, key: JobKey): Promise<Job | undefined> {
    return this.#job(userKey, key);
  }

  async listExtractions(userKey: string): Promise<ReadonlyMap<string, Job>> {
    const rows = this.#database.all('stage1', LIST_JOBS, userKey);
    return new Map(rows.map((row) => [row.text('thread_id'), readJob(row)]));
  }

  async claim(userKey: string, key: JobKey, request: ClaimRequest): Promise<Claim> {
    return this.#database.change(() => {
      const row = key.kind === 'extraction' ? this.#row(userKey, key.threadId) : undefined;
      const decision =
        key.kind === 'extraction'
          ? claimExtraction(row?.job, row?.head?.sourceUpdatedAt ?? null, request)
          : claimConsolidation(this.#job(userKey, key), request);
      this.#put(userKey, key, decision.job);
      return decision.claim;
    });
  }

  async heartbeat(
    userKey: string,
    key: JobKey,
    token: string,
    at: { readonly now: number; readonly leaseMs: number },
  ): Promise<boolean> {
    return this.#apply(userKey, key, (job) => extendLease(job, token, at));
  }

  async complete(userKey: string, token: string, now: number, completion: Completion): Promise<boolean> {
    if (completion.kind === 'consolidation') {
      return this.#apply(userKey, { kind: 'consolidation' }, (job) =>
        completeConsolidation(job, token, now, completion.completedWatermark),
      );
    }
    return this.#database.change(() => {
      const { threadId } = completion;
      const row = completeExtraction(this.#row(userKey, threadId), token, now, completion);
      if (row !== undefined) this.#putRow(userKey, threadId, row);
      return row !== undefined;
    });
  }

  async fail(userKey: string, key: JobKey, token: string, failure: Failure): Promise<boolean> {
    return this.#apply(userKey, key, (job) => failJob(key.kind, job, token, failure));
  }

  async enqueueConsolidation(userKey: string, watermark: number): Promise<void> {
    this.#apply(userKey, { kind: 'consolidation' }, (job) => enqueueConsolidation(job, watermark));
  }

  async recordOutcome(userKey: string, threadId: string, outcome: Outcome, wakeAt?: number): Promise<void> {
    this.#apply(userKey, { kind: 'extraction', threadId }, (job) => recordOutcome(job, outcome, wakeAt ?? null));
  }

  async wake(userKey: string, threadId: string, at: number | null): Promise<void> {
    this.#apply(userKey, { kind: 'extraction', threadId }, (job) => wakeExtraction(job, at));
  }

  async redrive(userKey: string): Promise<readonly string[]> {
    return this.#database.change(() =>
      this.#database.all('stage1', LIST_JOBS, userKey).flatMap((row) => {
        const threadId = row.text('thread_id');
        return this.#put(userKey, { kind: 'extraction', threadId }, redriveExtraction(readJob(row))) ? [threadId] : [];
      }),
    );
  }

  async removeExtraction(userKey: string, threadId: string): Promise<StageOneHead | undefined> {
    return this.#database.change(() => {
      const head = this.#row(userKey, threadId)?.head ?? undefined;
      this.#database.run('DELETE FROM stage1 WHERE user_key = ? AND thread_id = ?', userKey, threadId);
      return head;
    });
  }

  async clear(userKey: string): Promise<void> {
    this.#database.change(() => {
      this.#database.run('DELETE FROM stage1 WHERE user_key = ?', userKey);
      this.#database.run('DELETE FROM consolidation WHERE user_key = ?', userKey);
    });
  }

  /**
   * Lets the leases of a process that died run out at once, both kinds, all users: its tokens begin with `tokenPrefix`. The
   * attempts it made still count. Local only, so not in the port: elsewhere nobody can tell that a process is dead.
   * @returns how many leases ended
   */
  expireLeases(tokenPrefix: string, now: number): number {
    return this.#database.change(() =>
      ['stage1', 'consolidation']
        .map((table) =>
          this.#database.run(
            `UPDATE ${table} SET lease_until = ? WHERE status = 'running' AND lease_until > ? AND substr(token, 1, ?) = ?`,
            now,
            now,
            tokenPrefix.length,
            tokenPrefix,
          ),
        )
        .reduce((total, changed) => total + changed, 0),
    );
  }

  /** One atomic change of a job. @returns false when the transition left it as it is */
  #apply(userKey: string, key: JobKey, transition: (job: Job | undefined) => Job | undefined): boolean {
    return this.#database.change(() => this.#put(userKey, key, transition(this.#job(userKey, key))));
  }

  #job(userKey: string, key: JobKey): Job | undefined {
    if (key.kind === 'extraction') return this.#row(userKey, key.threadId)?.job;
    const row = this.#database.one('consolidation', GET_CONSOLIDATION, userKey);
    return row && readJob(row);
  }

  #row(userKey: string, threadId: string): StageOneRow | undefined {
    const row = this.#database.one('stage1', GET_ROW, userKey, threadId);
    return row && readStageOneRow(row);
  }

  #put(userKey: string, key: JobKey, job: Job | undefined): boolean {
    if (job === undefined) return false;
    if (key.kind === 'consolidation')
      this.#database.run(PUT_CONSOLIDATION, userKey, ...jobValues(job, consolidationDueAt(job)));
    else this.#putRow(userKey, key.threadId, { job, head: this.#row(userKey, key.threadId)?.head ?? null });
    return true;
  }

  #putRow(userKey: string, threadId: string, row: StageOneRow): void {
    this.#database.run(
      PUT_ROW,
      userKey,
      threadId,
      ...jobValues(row.job, extractionDueAt(row.job)),
      ...headValues(row.head),
    );
  }
}

function marks(count: number): string {
  return Array.from({ length: count }, () => '?').join(', ');
}
