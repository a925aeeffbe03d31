import type { Outcome } from '../../core/extraction/outcome.ts';
import type { StageOneHead } from '../../core/extraction/stage-one-output.ts';
import { claimConsolidation } from '../../core/job/claim-consolidation.ts';
import { claimExtraction } from '../../core/job/claim-extraction.ts';
import { completeConsolidation, completeExtraction, extendLease, failJob } from '../../core/job/end-job.ts';
import type { Claim, ClaimRequest, Completion, Failure, Job, JobKey } from '../../core/job/job.ts';
import { enqueueConsolidation, recordOutcome, redriveExtraction, wakeExtraction } from '../../core/job/revive-job.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import { StageOneTable } from './stage-one-table.ts';

/** Jobs held in memory. Share the table with a `MemoryStageOneStore`. */
export class MemoryJobStore implements JobStore {
  readonly table: StageOneTable;

  constructor(table = new StageOneTable()) {
    this.table = table;
  }

  async get(userKey: string, key: JobKey): Promise<Job | undefined> {
    return this.#job(userKey, key);
  }

  async listExtractions(userKey: string): Promise<ReadonlyMap<string, Job>> {
    return new Map(this.table.rows(userKey).map(([threadId, row]) => [threadId, row.job]));
  }

  async claim(userKey: string, key: JobKey, request: ClaimRequest): Promise<Claim> {
    const job = this.#job(userKey, key);
    const decision =
      key.kind === 'consolidation'
        ? claimConsolidation(job, request)
        : claimExtraction(job, this.table.row(userKey, key.threadId)?.head?.sourceUpdatedAt ?? null, request);
    this.#store(userKey, key, decision.job);
    return decision.claim;
  }

  async heartbeat(
    userKey: string,
    key: JobKey,
    token: string,
    at: { readonly now: number; readonly leaseMs: number },
  ): Promise<boolean> {
    return this.#store(userKey, key, extendLease(this.#job(userKey, key), token, at));
  }

  async complete(userKey: string, token: string, now: number, completion: Completion): Promise<boolean> {
    if (completion.kind === 'consolidation') {
      const job = this.table.consolidations.get(userKey);
      return this.#store(
        userKey,
        { kind: 'consolidation' },
        completeConsolidation(job, token, now, completion.completedWatermark),
      );
    }
    const row = completeExtraction(this.table.row(userKey, completion.threadId), token, now, completion);
    if (row !== undefined) this.table.setRow(userKey, completion.threadId, row);
    return row !== undefined;
  }

  async fail(userKey: string, key: JobKey, token: string, failure: Failure): Promise<boolean> {
    return this.#store(userKey, key, failJob(key.kind, this.#job(userKey, key), token, failure));
  }

  async enqueueConsolidation(userKey: string, watermark: number): Promise<void> {
    const job = this.table.consolidations.get(userKey);
    this.table.consolidations.set(userKey, enqueueConsolidation(job, watermark));
  }

  async recordOutcome(userKey: string, threadId: string, outcome: Outcome, wakeAt?: number): Promise<void> {
    const key: JobKey = { kind: 'extraction', threadId };
    this.#store(userKey, key, recordOutcome(this.#job(userKey, key), outcome, wakeAt ?? null));
  }

  async wake(userKey: string, threadId: string, at: number | null): Promise<void> {
    const key: JobKey = { kind: 'extraction', threadId };
    this.#store(userKey, key, wakeExtraction(this.#job(userKey, key), at));
  }

  async redrive(userKey: string): Promise<readonly string[]> {
    const revived: string[] = [];
    for (const [threadId, row] of this.table.rows(userKey)) {
      if (this.#store(userKey, { kind: 'extraction', threadId }, redriveExtraction(row.job))) revived.push(threadId);
    }
    return revived;
  }

  async removeExtraction(userKey: string, threadId: string): Promise<StageOneHead | undefined> {
    const head = this.table.row(userKey, threadId)?.head ?? undefined;
    this.table.dropRow(userKey, threadId);
    return head;
  }

  async clear(userKey: string): Promise<void> {
    this.table.clear(userKey);
  }

  #job(userKey: string, key: JobKey): Job | undefined {
    return key.kind === 'consolidation'
      ? this.table.consolidations.get(userKey)
      : this.table.row(userKey, key.threadId)?.job;
  }

  /** @returns false when there is nothing to store */
  #store(userKey: string, key: JobKey, job: Job | undefined): boolean {
    if (job === undefined) return false;
    if (key.kind === 'consolidation') this.table.consolidations.set(userKey, job);
    else this.table.setRow(userKey, key.threadId, { job, head: this.table.row(userKey, key.threadId)?.head ?? null });
    return true;
  }
}
