import { setTimeout } from 'node:timers/promises';
import { WorkerPool } from '../adapters/system/worker-pool.ts';
import { consolidate } from '../core/consolidation/consolidate.ts';
import type { ConsolidationResult } from '../core/consolidation/consolidation-ports.ts';
import { pruneOutputs } from '../core/consolidation/prune-outputs.ts';
import { InvalidInputError } from '../core/errors.ts';
import { rememberedEvidenceTokens } from '../core/extraction/evidence-limit.ts';
import { extractThread } from '../core/extraction/extract-thread.ts';
import type { ModelClient } from '../core/ports/model-client.ts';
import { LIMITS } from '../core/settings.ts';
import { compareBytes } from '../core/text.ts';
import { alignProjects } from '../core/thread/align-projects.ts';
import { checkEligibility } from '../core/thread/eligibility.ts';
import type { Thread } from '../core/thread/thread.ts';
import { DAY_MS } from '../core/time.ts';
import { existingFolders, type FoundFile, findRollouts } from './discover.ts';
import type { LocalEnv } from './env.ts';
import type { Home } from './home.ts';
import { type ImportedFile, importRollout } from './import-rollouts.ts';
import { listAllThreads } from './look.ts';
import type { ModelSetup } from './model.ts';
import { refreshWorkingCopy, type TakenEdits, takeEdits } from './sync-working-copy.ts';

const POLL_MS = 100;
/** Rounds of extraction in one run: more than one only when another process died over a thread meanwhile. */
const MAX_ROUNDS = 5;

export interface RunRequest {
  /** Files and folders named by the person; empty = the agents' own folders. */
  readonly paths: readonly string[];
  /** Age limit by content time; null = none for named paths, the settings' for the agents' own folders. */
  readonly sinceMs: number | null;
  /** At most so many threads are extracted in this run, newest first. */
  readonly max: number;
  /** True: sessions that may still be going on are taken as well. */
  readonly includeActive: boolean;
}

export type RunPhase = 'import' | 'extract' | 'consolidate';

export interface RunObserver {
  /** Progress within a phase; `total` 0 = nothing to do. */
  progress(phase: RunPhase, done: number, total: number): void;
}

export interface RunResult {
  readonly files: readonly ImportedFile[];
  /** Threads that were due in this run. */
  readonly due: readonly string[];
  /** Due threads that `max` left for the next run. */
  readonly leftOver: number;
  readonly consolidation: ConsolidationResult;
  readonly edits: TakenEdits;
}

/**
 * The main job: takes rollouts in, extracts what is due, consolidates, brings the working copy up to date. Safe to kill at any
 * moment and to run twice at once: every step is claimed, and what is done is not done again.
 * @throws NotFoundError, InvalidInputError, DeniedError for paths (see `findRollouts`), InvalidInputError `run.no_default_folder`
 */
export async function run(
  home: Home,
  model: ModelSetup,
  request: RunRequest,
  surroundings: { readonly env: LocalEnv; readonly observer: RunObserver },
): Promise<RunResult> {
  const { env, observer } = surroundings;
  const found = await findRollouts(await choosePaths(request, env));
  home.recoverDeadRuns();
  const edits = await takeEdits(home);
  const files = await importFiles(home, found, request, observer);
  await nameProjects(home);
  await pruneOutputs(home, home.userKey, { now: home.clock.now(), maxUnusedDays: home.settings.maxUnusedDays });
  const extraction = await extractDue(home, model, request, observer);
  observer.progress('consolidate', 0, 1);
  const consolidation = await consolidateNow(home, model);
  await home.outputs.removeOrphanBodies(home.userKey);
  observer.progress('consolidate', 1, 1);
  await refreshWorkingCopy(home);
  return { files, due: extraction.due, leftOver: extraction.leftOver, consolidation, edits };
}

async function choosePaths(request: RunRequest, env: LocalEnv): Promise<readonly string[]> {
  if (request.paths.length > 0) return request.paths;
  const folders = await existingFolders([env.codexSessions, env.claudeProjects]);
  if (folders.length > 0) return folders;
  throw new InvalidInputError(
    'run.no_default_folder',
    `neither ${env.codexSessions} nor ${env.claudeProjects} exists: name a folder, as in "stillroom run PATH"`,
    { details: { field: 'path' } },
  );
}

async function importFiles(
  home: Home,
  found: readonly FoundFile[],
  request: RunRequest,
  observer: RunObserver,
): Promise<readonly ImportedFile[]> {
  const requested = request.paths.length > 0 && request.sinceMs === null;
  const imported: ImportedFile[] = [];
  observer.progress('import', 0, found.length);
  for (const file of found) {
    imported.push(await importRollout(home, file, { requested }));
    observer.progress('import', imported.length, found.length);
  }
  return imported;
}

/** Before anything is extracted, so that a memory is filed under one project whichever agent it came from. */
async function nameProjects(home: Home): Promise<void> {
  for (const { threadId, repository, project } of alignProjects(await listAllThreads(home))) {
    await home.threads.update(home.userKey, threadId, (stored) => stored && { ...stored, repository, project });
  }
}

async function extractDue(
  home: Home,
  model: ModelSetup,
  request: RunRequest,
  observer: RunObserver,
): Promise<{ readonly due: readonly string[]; readonly leftOver: number }> {
  const attempted = new Set<string>();
  let extracted = 0;
  let leftOver = 0;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const due = (await listDue(home)).filter((thread) => !attempted.has(thread.threadId));
    // What will only be skipped costs nothing and must not use up the places of what is extracted.
    const eligible = due.filter((thread) => isEligible(home, request, thread));
    const left = new Set(eligible.slice(Math.max(0, request.max - extracted)));
    extracted += eligible.length - left.size;
    leftOver = left.size;
    const work = due.filter((thread) => !left.has(thread));
    for (const thread of work) attempted.add(thread.threadId);
    await extractAll(home, model, work, { request, observer });
    const released = await waitForOthers(home);
    if (released.length === 0) break;
    for (const threadId of released) attempted.delete(threadId);
  }
  return { due: [...attempted], leftOver };
}

/** Threads whose newest rollout has not been dealt with, newest first. */
async function listDue(home: Home): Promise<readonly Thread[]> {
  const jobs = await home.jobs.listExtractions(home.userKey);
  const due = (await listAllThreads(home)).filter((thread) => {
    const settled = jobs.get(thread.threadId)?.successWatermark ?? null;
    return settled === null || settled < thread.updatedAt;
  });
  return due.sort((a, b) => b.updatedAt - a.updatedAt || compareBytes(a.threadId, b.threadId));
}

function isEligible(home: Home, request: RunRequest, thread: Thread): boolean {
  const rules = {
    now: home.clock.now(),
    settings: home.settings,
    includeActive: request.includeActive,
    maxAgeMs: ageLimit(home, request, thread),
  };
  return checkEligibility(thread, rules).kind === 'eligible';
}

/** A session that a person named is never too old; of the others, `--since` or the setting decides. */
function ageLimit(home: Home, request: RunRequest, thread: Thread): number | null {
  if (request.sinceMs !== null) return request.sinceMs;
  return thread.requestedAt === null ? home.settings.maxRolloutAgeDays * DAY_MS : null;
}

async function extractAll(
  home: Home,
  model: ModelSetup,
  threads: readonly Thread[],
  of: { readonly request: RunRequest; readonly observer: RunObserver },
): Promise<void> {
  const extractModel = home.settings.extractModel ?? model.extractModel;
  const remembered = rememberedEvidenceTokens(await home.jobs.listExtractions(home.userKey), extractModel);
  const byId = new Map(threads.map((thread) => [thread.threadId, thread]));
  let done = 0;
  let misconfigured = false;
  of.observer.progress('extract', 0, threads.length);
  const pool = new WorkerPool(async ({ userKey, threadId }) => {
    const thread = byId.get(threadId);
    // A wrong key or model name fails every call alike: a person must act first, the rest stays due (user case A37).
    if (thread === undefined || misconfigured) return;
    const outcome = await extractThread(modelPorts(home, model), {
      userKey,
      threadId,
      settings: home.settings,
      model: extractModel,
      rememberedEvidenceTokens: remembered,
      includeActive: of.request.includeActive,
      maxAgeMs: ageLimit(home, of.request, thread),
    });
    if (outcome.kind === 'failed' && outcome.reason === 'configuration') misconfigured = true;
    of.observer.progress('extract', ++done, threads.length);
  });
  await pool.send(threads.map(({ threadId }) => ({ kind: 'thread-due', userKey: home.userKey, threadId })));
  await pool.idle();
}

/**
 * Waits until no other process extracts a thread of this home, so that one consolidation takes in the work of all.
 * @returns threads whose process died meanwhile: they are due again
 */
async function waitForOthers(home: Home): Promise<readonly string[]> {
  const seen = new Set<string>();
  for (;;) {
    home.recoverDeadRuns();
    const now = home.clock.now();
    let running = 0;
    for (const [threadId, job] of await home.jobs.listExtractions(home.userKey)) {
      if (job.status !== 'running') continue;
      seen.add(threadId);
      if ((job.leaseUntil ?? 0) > now) running++;
    }
    if (running === 0) break;
    await setTimeout(POLL_MS);
  }
  const jobs = await home.jobs.listExtractions(home.userKey);
  return [...seen].filter((threadId) => jobs.get(threadId)?.status === 'running');
}

/** A person asked, so no cooldown. Where another process is at it, waits for its end: it may have left us nothing to do. */
async function consolidateNow(home: Home, model: ModelSetup): Promise<ConsolidationResult> {
  const deadline = home.clock.now() + LIMITS.consolidationLeaseMs;
  for (;;) {
    const result = await consolidate(modelPorts(home, model), {
      userKey: home.userKey,
      settings: home.settings,
      model: model.consolidationModel,
      immediate: true,
    });
    if (result.kind !== 'refused' || result.reason !== 'running' || home.clock.now() >= deadline) return result;
    home.recoverDeadRuns();
    await setTimeout(POLL_MS);
  }
}

/** The home with the model of this run, and the account that its calls are booked on. */
function modelPorts(home: Home, model: ModelSetup): Home & { readonly model: ModelClient } {
  return { ...home, model: model.client, ledger: model.offline ? home.offlineLedger : home.ledger };
}
