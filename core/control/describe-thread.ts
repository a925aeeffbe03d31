import { loadVersionChain } from '../consolidation/version-chain.ts';
import { NotFoundError } from '../errors.ts';
import type { StageOneBody, StageOneHead } from '../extraction/stage-one-output.ts';
import { isThreadId } from '../ids.ts';
import type { Job } from '../job/job.ts';
import type { Clock } from '../ports/clock.ts';
import type { HeadStore } from '../ports/head-store.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import type { StageOneStore } from '../ports/stage-one-store.ts';
import type { ThreadStore } from '../ports/thread-store.ts';
import { LIMITS } from '../settings.ts';
import type { Thread } from '../thread/thread.ts';
import { toFileTime } from '../time.ts';
import { type ThreadRow, toThreadRow } from './list-threads.ts';

/** What was learned from a thread, as the wire shows it. */
export interface ThreadOutput {
  readonly source_updated_at: string;
  readonly generated_at: string;
  readonly slug: string | null;
  readonly model: string;
  readonly prompt_version: string;
  readonly raw_memory: string | null;
  readonly rollout_summary: string | null;
}

/** All that is known of a thread, and why it is where it is (user cases A6, B9). */
export interface ThreadDescription extends ThreadRow {
  readonly extraction: {
    readonly attempts: number;
    readonly retries_left: number;
    readonly last_error: string | null;
    /** When it is tried again without anybody acting; null: not by itself. */
    readonly next_at: string | null;
  };
  readonly output: ThreadOutput | null;
  readonly usage_count: number;
  readonly last_usage: string | null;
  /** True when the last consolidation took it in. */
  readonly selected: boolean;
  /** The newest versions that rest on it, newest first, of those that are looked at (`LIMITS.versionPage`). */
  readonly in_versions: readonly number[];
}

export interface DescribeThreadPorts {
  readonly threads: Pick<ThreadStore, 'get'>;
  readonly jobs: Pick<JobStore, 'get'>;
  readonly outputs: Pick<StageOneStore, 'head' | 'bodies'>;
  readonly heads: Pick<HeadStore, 'read'>;
  readonly memories: Pick<MemoryStore, 'manifest'>;
  readonly clock: Clock;
}

/** @throws NotFoundError `thread.not_found` for one that is unknown, of somebody else, or forgotten */
export async function describeThread(
  ports: DescribeThreadPorts,
  userKey: string,
  threadId: string,
): Promise<ThreadDescription> {
  const thread = await findThread(ports, userKey, threadId);
  const [job, output, inVersions] = await Promise.all([
    ports.jobs.get(userKey, { kind: 'extraction', threadId }),
    ports.outputs.head(userKey, threadId),
    versionsWith(ports, userKey, threadId),
  ]);
  const body = output && (await ports.outputs.bodies(userKey, [output])).get(threadId);
  return {
    ...toThreadRow(thread, job, ports.clock.now()),
    extraction: {
      attempts: job?.attempts ?? 0,
      retries_left: job?.retryRemaining ?? LIMITS.retryBudget,
      last_error: job?.lastError ?? null,
      next_at: wireTime(nextTry(job)),
    },
    output: output === undefined ? null : toOutput(output, body),
    usage_count: output?.usageCount ?? 0,
    last_usage: wireTime(output?.lastUsage ?? null),
    selected: (output?.selectedSnapshot ?? null) !== null,
    in_versions: inVersions,
  };
}

/** @throws NotFoundError `thread.not_found` */
export async function findThread(
  ports: { readonly threads: Pick<ThreadStore, 'get'> },
  userKey: string,
  threadId: string,
): Promise<Thread> {
  const thread = isThreadId(threadId) ? await ports.threads.get(userKey, threadId) : undefined;
  if (thread !== undefined && thread.forgottenAt === null) return thread;
  throw new NotFoundError('thread.not_found', 'no such thread');
}

function nextTry(job: Job | undefined): number | null {
  if (job === undefined) return null;
  const times = [job.status === 'error' ? job.retryAt : null, job.wakeAt].filter((time) => time !== null);
  return times.length === 0 ? null : Math.min(...times);
}

function toOutput(head: StageOneHead, body: StageOneBody | undefined): ThreadOutput {
  return {
    source_updated_at: toFileTime(head.sourceUpdatedAt),
    generated_at: toFileTime(head.generatedAt),
    slug: head.slug,
    model: head.model,
    prompt_version: head.promptVersion,
    raw_memory: body?.rawMemory ?? null,
    rollout_summary: body?.rolloutSummary ?? null,
  };
}

async function versionsWith(ports: DescribeThreadPorts, userKey: string, threadId: string): Promise<number[]> {
  const { version } = await ports.heads.read(userKey);
  let looked = 0;
  const chain = await loadVersionChain(ports.memories, userKey, version, () => ++looked >= LIMITS.versionPage);
  return chain
    .filter(({ inputs }) => inputs.some((input) => input.threadId === threadId))
    .map((manifest) => manifest.version);
}

function wireTime(ms: number | null): string | null {
  return ms === null ? null : toFileTime(ms);
}
