import type { Manifest } from '../consolidation/manifest.ts';
import { loadVersionChain } from '../consolidation/version-chain.ts';
import { DefectError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { HeadStore } from '../ports/head-store.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import type { StageOneStore } from '../ports/stage-one-store.ts';
import type { ThreadStore } from '../ports/thread-store.ts';
import type { UsageLedger } from '../ports/usage-ledger.ts';
import { LIMITS, type Settings } from '../settings.ts';
import { toDay, toFileTime } from '../time.ts';
import { type ConsolidationState, consolidationState, isConsolidationDue } from './consolidation-state.ts';
import { countThreads, type ThreadCounts } from './count-threads.ts';

export type Health = 'ok' | 'degraded' | 'failing';

/** The answer of `GET /v1/status` as the wire shows it. Times are RFC 3339. */
export interface Status {
  readonly threads: {
    readonly total: number;
    readonly by_outcome: Readonly<Record<string, number>>;
    /** Secrets that were replaced in them, by kind. */
    readonly redactions: Readonly<Record<string, number>>;
  };
  readonly extraction: {
    readonly queued: number;
    readonly running: number;
    readonly failed: number;
    readonly deferred: number;
    readonly oldest_queued_at: string | null;
  };
  readonly consolidation: {
    readonly status: ConsolidationState['status'];
    readonly last_success_at: string | null;
    readonly last_error: string | null;
    readonly next_at: string | null;
    readonly stale: boolean;
  };
  readonly memory: {
    readonly version: number;
    readonly published_at: string | null;
    readonly bytes: number;
    readonly files: number;
  };
  readonly usage: {
    readonly today: {
      readonly input_tokens: number;
      readonly cached_tokens: number;
      readonly output_tokens: number;
      readonly calls: number;
    };
    /** Tokens a day. */
    readonly budget: number;
  };
  readonly health: Health;
}

export interface StatusPorts {
  readonly threads: ThreadStore;
  readonly jobs: JobStore;
  readonly stageOne: StageOneStore;
  readonly heads: HeadStore;
  readonly memories: MemoryStore;
  readonly ledger: UsageLedger;
  readonly clock: Clock;
}

/**
 * How a user's memory is doing (api.md, user cases A6, A39, B9). Reads small items only, never texts.
 *
 * Health is `failing` when somebody must act or work has stopped: the current version's manifest cannot be read, the
 * consolidation is stale or failed its last retry, a queued thread waits longer than `staleQueueMs`, or threads failed and
 * none was ever extracted. It is `degraded` when something failed, is deferred or will be retried, while the rest goes on.
 */
export async function readStatus(ports: StatusPorts, userKey: string, settings: Settings): Promise<Status> {
  const now = ports.clock.now();
  const [counts, head, job, usage] = await Promise.all([
    countThreads(ports, userKey, now),
    ports.heads.read(userKey),
    ports.jobs.get(userKey, { kind: 'consolidation' }),
    ports.ledger.day(userKey, toDay(now)),
  ]);
  const chain = await readChain(ports.memories, userKey, head.version);
  const newestMadeAt = chain?.find(isConsolidation)?.createdAt ?? null;
  const outputs = isConsolidationDue(job) ? await ports.stageOne.heads(userKey) : [];
  const consolidation = consolidationState(job, { newestMadeAt, outputs, now });
  const retriesLeft = job?.status !== 'error' || job.retryRemaining > 0;
  return {
    threads: { total: counts.total, by_outcome: counts.byOutcome, redactions: counts.redactions },
    extraction: {
      queued: counts.queued,
      running: counts.running,
      failed: counts.failed,
      deferred: counts.deferred,
      oldest_queued_at: wireTime(counts.oldestQueuedAt),
    },
    consolidation: {
      status: consolidation.status,
      last_success_at: wireTime(consolidation.lastSuccessAt),
      last_error: consolidation.lastError,
      next_at: wireTime(consolidation.nextAt),
      stale: consolidation.stale,
    },
    memory: { version: head.version, published_at: wireTime(head.publishedAt), ...sizeOf(chain?.[0]) },
    usage: {
      today: {
        input_tokens: usage.usage.inputTokens,
        cached_tokens: usage.usage.cachedInputTokens,
        output_tokens: usage.usage.outputTokens,
        calls: usage.calls,
      },
      budget: settings.dailyTokenBudget,
    },
    health: judgeHealth(counts, consolidation, { readable: chain !== null, retriesLeft, now }),
  };
}

/** The current version down to the newest consolidation; null when a manifest on the way cannot be read. */
async function readChain(memories: MemoryStore, userKey: string, version: number): Promise<readonly Manifest[] | null> {
  try {
    return await loadVersionChain(memories, userKey, version, isConsolidation);
  } catch (error) {
    if (error instanceof DefectError) return null; // told as health `failing`: a status must answer when things are bad
    throw error;
  }
}

function isConsolidation(manifest: Manifest): boolean {
  return manifest.reason === 'consolidation';
}

function sizeOf(manifest: Manifest | undefined): { bytes: number; files: number } {
  const entries = Object.values(manifest?.files ?? {});
  return { bytes: entries.reduce((sum, entry) => sum + entry.bytes, 0), files: entries.length };
}

function judgeHealth(
  counts: ThreadCounts,
  consolidation: ConsolidationState,
  facts: { readonly readable: boolean; readonly retriesLeft: boolean; readonly now: number },
): Health {
  const queueStale = counts.oldestQueuedAt !== null && facts.now - counts.oldestQueuedAt > LIMITS.staleQueueMs;
  const { extracted = 0, no_output: empty = 0 } = counts.byOutcome;
  // By the last outcome, not by the state: a failure that waits for its retry is one all the same.
  const failed = Object.keys(counts.byOutcome).some((name) => name.startsWith('failed('));
  const allFailed = failed && extracted + empty === 0;
  const failedForGood = consolidation.status === 'error' && !facts.retriesLeft;
  if (!facts.readable || consolidation.stale || failedForGood || queueStale || allFailed) return 'failing';
  const impaired = failed || counts.deferred > 0 || consolidation.status === 'error';
  return impaired ? 'degraded' : 'ok';
}

function wireTime(ms: number | null): string | null {
  return ms === null ? null : toFileTime(ms);
}
