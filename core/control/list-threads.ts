import { outcomeName } from '../extraction/outcome.ts';
import type { Job } from '../job/job.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { ThreadStore } from '../ports/thread-store.ts';
import { LIMITS } from '../settings.ts';
import type { MemoryMode, Thread } from '../thread/thread.ts';
import { toFileTime } from '../time.ts';
import { type ExtractionState, extractionState } from './extraction-state.ts';

/** The outcome of a thread that no pass has ended for yet. */
export const PENDING = 'pending';

/** A thread as the wire shows it. Times are RFC 3339. */
export interface ThreadRow {
  readonly thread_id: string;
  readonly memory_mode: MemoryMode;
  /** Short name of the last outcome (DV-22); `pending` before the first. */
  readonly outcome: string;
  /** Why, content-free: the rule and the number that decided it. */
  readonly outcome_detail: string | null;
  readonly state: ExtractionState;
  readonly source: string;
  readonly agent_kind: string;
  readonly project: string;
  readonly cwd: string | null;
  readonly repository: string | null;
  readonly git_branch: string | null;
  readonly title: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly uploaded_at: string;
  readonly ended: boolean;
  readonly rollout_bytes: number;
}

export interface ListThreadsPorts {
  readonly threads: Pick<ThreadStore, 'list' | 'marks' | 'getMany'>;
  readonly jobs: Pick<JobStore, 'get' | 'listExtractions'>;
  readonly clock: Clock;
}

export interface ListThreadsRequest {
  /** Thread id after which the page begins. */
  readonly after: string | undefined;
  /** A whole outcome name, or what stands before its reason: `skipped` finds `skipped(too_short)`. */
  readonly outcome: string | undefined;
}

export interface ThreadPage {
  readonly rows: readonly ThreadRow[];
  /** Thread id to go on after; null = that was all. */
  readonly next: string | null;
}

/** Lists a user's threads by id ascending, a page at a time. Forgotten threads are gone from every read (DV-18). */
export async function listThreads(
  ports: ListThreadsPorts,
  userKey: string,
  request: ListThreadsRequest,
): Promise<ThreadPage> {
  const { after, outcome } = request;
  if (outcome !== undefined) return listWithOutcome(ports, userKey, { after, outcome });
  const limit = LIMITS.threadPage;
  const page = await ports.threads.list(userKey, after === undefined ? { limit } : { after, limit });
  const shown = page.filter((thread) => thread.forgottenAt === null);
  const jobs = await Promise.all(
    shown.map((thread) => ports.jobs.get(userKey, { kind: 'extraction', threadId: thread.threadId })),
  );
  const now = ports.clock.now();
  const rows = shown.map((thread, at) => toThreadRow(thread, jobs[at], now));
  return { rows, next: page.length < limit ? null : (page.at(-1)?.threadId ?? null) };
}

/** Reads all jobs and marks, which are small, and only the threads of the page. */
async function listWithOutcome(
  ports: ListThreadsPorts,
  userKey: string,
  request: { readonly after: string | undefined; readonly outcome: string },
): Promise<ThreadPage> {
  const [jobs, marks] = await Promise.all([ports.jobs.listExtractions(userKey), ports.threads.marks(userKey)]);
  const { after = '', outcome } = request;
  const found = marks.filter(({ threadId }) => threadId > after && hasOutcome(jobs.get(threadId), outcome));
  const ids = found.slice(0, LIMITS.threadPage).map(({ threadId }) => threadId);
  const threads = await ports.threads.getMany(userKey, ids);
  const now = ports.clock.now();
  const rows = ids.flatMap((threadId) => {
    const thread = threads.get(threadId);
    return thread === undefined || thread.forgottenAt !== null ? [] : [toThreadRow(thread, jobs.get(threadId), now)];
  });
  return { rows, next: found.length > ids.length ? (ids.at(-1) ?? null) : null };
}

function hasOutcome(job: Job | undefined, wanted: string): boolean {
  const name = nameOf(job);
  return name === wanted || name.startsWith(`${wanted}(`);
}

function nameOf(job: Job | undefined): string {
  return job?.outcome ? outcomeName(job.outcome) : PENDING;
}

/** @param job the thread's extraction job; undefined: it was never looked at */
export function toThreadRow(thread: Thread, job: Job | undefined, now: number): ThreadRow {
  return {
    thread_id: thread.threadId,
    memory_mode: thread.memoryMode,
    outcome: nameOf(job),
    outcome_detail: job?.outcome?.detail ?? null,
    state: extractionState(thread, job, now),
    source: thread.source,
    agent_kind: thread.agentKind,
    project: thread.project,
    cwd: thread.cwd,
    repository: thread.repository,
    git_branch: thread.gitBranch,
    title: thread.title,
    created_at: toFileTime(thread.createdAt),
    updated_at: toFileTime(thread.updatedAt),
    uploaded_at: toFileTime(thread.rollout.uploadedAt),
    ended: thread.ended,
    rollout_bytes: thread.rollout.bytes,
  };
}
