import { diffVersions } from '../core/control/diff-versions.ts';
import { listVersions, type VersionRow } from '../core/control/list-versions.ts';
import { openFormer } from '../core/control/open-former.ts';
import { readStatus, type Status } from '../core/control/read-status.ts';
import { NotFoundError } from '../core/errors.ts';
import { outcomeName } from '../core/extraction/outcome.ts';
import type { StageOneHead } from '../core/extraction/stage-one-output.ts';
import type { Job } from '../core/job/job.ts';
import { type Explanation, explainMemory } from '../core/memory/explain-memory.ts';
import { type Listing, listFiles } from '../core/memory/list-files.ts';
import { findTarget, type OpenedVersion, openVersion } from '../core/memory/memory-files.ts';
import { type FileText, readFile } from '../core/memory/read-file.ts';
import { type SearchRequest, type SearchResult, searchFiles } from '../core/memory/search-files.ts';
import type { Thread } from '../core/thread/thread.ts';
import { toDay, toFileTime } from '../core/time.ts';
import type { Home } from './home.ts';

/** One thread as `stillroom threads` shows it. */
export interface ThreadRow {
  readonly thread_id: string;
  /** Short name of the last outcome; `queued` where no pass has ended yet. */
  readonly outcome: string;
  readonly detail: string | null;
  readonly agent: string;
  readonly project: string;
  readonly title: string | null;
  readonly updated_at: string;
  readonly memory_mode: string;
  /** What was met when its rollout was read; null = it was not read. */
  readonly reading: {
    readonly broken_lines: number;
    readonly oversized_records: number;
    readonly torn_tail: boolean;
    /** Secrets replaced in the evidence of the last extraction, by kind. */
    readonly redactions: Readonly<Record<string, number>>;
  } | null;
  readonly usage_count: number;
  /** True when the last consolidation took it in. */
  readonly selected: boolean;
  readonly rollout_path: string;
}

export async function lookStatus(home: Home): Promise<Status> {
  return readStatus(home, home.userKey, await home.settingsStore.read(home.userKey));
}

/** Calls and tokens of the offline stand-in today; they cost nothing and count towards no budget. */
export async function lookOfflineUsage(home: Home): Promise<{ readonly calls: number; readonly tokens: number }> {
  const day = await home.offlineLedger.day(home.userKey, toDay(home.clock.now()));
  return { calls: day.calls, tokens: day.usage.inputTokens + day.usage.outputTokens };
}

/** All threads, newest first; with `outcome`, those whose outcome is or begins with that name. */
export async function lookThreads(home: Home, outcome: string | null): Promise<readonly ThreadRow[]> {
  const jobs = await home.jobs.listExtractions(home.userKey);
  const heads = new Map((await home.stageOne.heads(home.userKey)).map((head) => [head.threadId, head]));
  const rows: { readonly at: number; readonly row: ThreadRow }[] = [];
  for (const thread of await listAllThreads(home)) {
    const row = toThreadRow(thread, jobs.get(thread.threadId), heads.get(thread.threadId));
    if (outcome === null || row.outcome.startsWith(outcome)) rows.push({ at: thread.updatedAt, row });
  }
  return rows.sort((a, b) => b.at - a.at || (a.row.thread_id < b.row.thread_id ? -1 : 1)).map(({ row }) => row);
}

export async function listAllThreads(home: Home): Promise<readonly Thread[]> {
  const limit = 500;
  const threads: Thread[] = [];
  for (;;) {
    const last = threads.at(-1)?.threadId;
    const page = await home.threads.list(home.userKey, last === undefined ? { limit } : { after: last, limit });
    threads.push(...page);
    if (page.length < limit) return threads;
  }
}

/** A folder's listing, or a file's text. */
export async function lookPath(
  home: Home,
  path: string,
  version: number | null,
): Promise<
  { readonly kind: 'folder'; readonly listing: Listing } | { readonly kind: 'file'; readonly text: FileText }
> {
  const files = await openNumbered(home, version);
  if (findTarget(files, path).kind === 'folder') return { kind: 'folder', listing: await listFiles(files, { path }) };
  return { kind: 'file', text: await readFile(files, { path }) };
}

/** What the parts of a file or folder rest on (see `explainMemory`). */
export async function lookWhy(home: Home, path: string, version: number | null): Promise<Explanation> {
  return explainMemory(home.threads, home.userKey, await openNumbered(home, version), path);
}

export async function lookFor(home: Home, request: SearchRequest): Promise<SearchResult> {
  return searchFiles(await openVersion(home, home.userKey), request);
}

/** The versions that the current one rests on, newest first. */
export async function lookVersions(home: Home): Promise<readonly VersionRow[]> {
  return (await listVersions(home, home.userKey)).rows;
}

/**
 * Git-style text of what changed from version `from` to version `to`; by default from the current version's parent to the
 * current version.
 */
export async function lookDiff(
  home: Home,
  range: { readonly from: number | null; readonly to: number | null },
): Promise<{ readonly from: number; readonly to: number; readonly diff: string; readonly truncated: boolean }> {
  const found = await diffVersions(home, home.userKey, {
    version: range.to ?? undefined,
    against: range.from ?? undefined,
  });
  if (found.to === 0)
    throw new NotFoundError('memory.version_not_found', 'nothing is published yet: run "stillroom run"');
  return { from: found.from, to: found.to, diff: found.text, truncated: found.truncated };
}

function openNumbered(home: Home, version: number | null): Promise<OpenedVersion> {
  return openFormer(home, home.userKey, version ?? undefined);
}

function toReading({ reading }: Thread): ThreadRow['reading'] {
  if (reading === null) return null;
  const { broken, oversized, tornTail, redactions } = reading;
  return { broken_lines: broken, oversized_records: oversized, torn_tail: tornTail, redactions };
}

function toThreadRow(thread: Thread, job: Job | undefined, head: StageOneHead | undefined): ThreadRow {
  const outcome = job?.outcome ?? null;
  return {
    thread_id: thread.threadId,
    outcome: outcome === null ? 'queued' : outcomeName(outcome),
    detail: outcome?.detail ?? null,
    agent: thread.agentKind,
    project: thread.project,
    title: thread.title,
    updated_at: toFileTime(thread.updatedAt),
    memory_mode: thread.memoryMode,
    reading: toReading(thread),
    usage_count: head?.usageCount ?? 0,
    selected: head !== undefined && head.selectedSnapshot !== null,
    rollout_path: thread.rollout.path,
  };
}
