import { setTimeout } from 'node:timers/promises';
import { WorkerPool } from '../adapters/system/worker-pool.ts';
import { rememberedEvidenceTokens } from '../core/extraction/evidence-limit.ts';
import { extractThread } from '../core/extraction/extract-thread.ts';
import { compareBytes } from '../core/text.ts';
import { checkEligibility } from '../core/thread/eligibility.ts';
import type { Thread } from '../core/thread/thread.ts';
import { DAY_MS } from '../core/time.ts';
import type { Home } from './home.ts';
import { listAllThreads } from './look.ts';
import type { ModelSetup } from './model.ts';
import { modelPorts } from './model-ports.ts';
import type { RunObserver, RunRequest } from './run-request.ts';

const POLL_MS = 100;
/** Rounds of extraction in one run: more than one only when another process died over a thread meanwhile. */
const MAX_ROUNDS = 5;

/** What the extraction part of a run did. */
export interface ExtractedRun {
  readonly due: readonly string[];
  readonly leftOver: number;
  /** Why the model cannot be used; null when it can. */
  readonly misconfigured: string | null;
}

/**
 * Extracts what is due, eight at a time, and waits for what other processes extract, so that one consolidation takes in the
 * work of all.
 */
export async function extractDue(
  home: Home,
  model: ModelSetup,
  request: RunRequest,
  observer: RunObserver,
): Promise<ExtractedRun> {
  const attempted = new Set<string>();
  let extracted = 0;
  let leftOver = 0;
  let misconfigured: string | null = null;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const due = (await listDue(home)).filter((thread) => !attempted.has(thread.threadId));
    // What will only be skipped costs nothing and must not use up the places of what is extracted.
    const eligible = due.filter((thread) => isEligible(home, request, thread));
    const left = new Set(eligible.slice(Math.max(0, request.max - extracted)));
    extracted += eligible.length - left.size;
    leftOver = left.size;
    const work = due.filter((thread) => !left.has(thread));
    for (const thread of work) attempted.add(thread.threadId);
    misconfigured = await extractAll(home, model, work, { request, observer });
    if (misconfigured !== null) break;
    const released = await waitForOthers(home);
    if (released.length === 0) break;
    for (const threadId of released) attempted.delete(threadId);
  }
  return { due: [...attempted], leftOver, misconfigured };
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
): Promise<string | null> {
  const extractModel = home.settings.extractModel ?? model.extractModel;
  const remembered = rememberedEvidenceTokens(await home.jobs.listExtractions(home.userKey), extractModel);
  const byId = new Map(threads.map((thread) => [thread.threadId, thread]));
  let done = 0;
  let misconfigured: string | null = null;
  of.observer.progress('extract', 0, threads.length);
  const pool = new WorkerPool(async ({ userKey, threadId }) => {
    const thread = byId.get(threadId);
    // A wrong key or model name fails every call alike: a person must act first, the rest stays due (user case A37).
    if (thread === undefined || misconfigured !== null) return;
    const outcome = await extractThread(modelPorts(home, model), {
      userKey,
      threadId,
      settings: home.settings,
      model: extractModel,
      rememberedEvidenceTokens: remembered,
      includeActive: of.request.includeActive,
      maxAgeMs: ageLimit(home, of.request, thread),
    });
    if (outcome.kind === 'failed' && outcome.reason === 'configuration') misconfigured = outcome.detail ?? 'unknown';
    of.observer.progress('extract', ++done, threads.length);
  });
  await pool.send(threads.map(({ threadId }) => ({ kind: 'thread-due', userKey: home.userKey, threadId })));
  await pool.idle();
  return misconfigured;
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
