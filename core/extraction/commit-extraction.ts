import type { JobKey } from '../job/job.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { StageOneStore } from '../ports/stage-one-store.ts';
import type { ThreadStore } from '../ports/thread-store.ts';
import { LIMITS } from '../settings.ts';
import { utf8Length } from '../text.ts';
import type { Thread } from '../thread/thread.ts';
import type { ExtractionEnd } from './ask-model.ts';
import type { Insist } from './insist.ts';
import { type Outcome, outcomeName } from './outcome.ts';
import type { StageOneBody } from './stage-one-output.ts';

export interface CommitPorts {
  readonly threads: ThreadStore;
  readonly outputs: StageOneStore;
  readonly jobs: JobStore;
  readonly clock: Clock;
  /** Of this run. */
  readonly insist: Insist;
}

export interface CommitRequest {
  readonly userKey: string;
  /** As claimed: its `updatedAt` is the snapshot. */
  readonly thread: Thread;
  readonly token: string;
  readonly model: string;
  readonly promptVersion: string;
}

type Done = Extract<ExtractionEnd, { kind: 'done' }>;

/**
 * Writes how an extraction ended. An output goes in three steps (storage.md, "No transactions"): its texts, invisible; then
 * job done and head in one change, the commit; then the consolidation is marked due. A run that dies between two steps
 * leaves nothing half: before the commit the job is claimed again, after it the next claim marks what is missing.
 * The consolidation becomes due only when an output was written or removed (behaviours C-04, C-06, C-07).
 * @returns what the thread's owner is shown
 */
export async function commitExtraction(
  ports: CommitPorts,
  request: CommitRequest,
  end: ExtractionEnd,
): Promise<Outcome> {
  const owned = end.kind === 'failed' ? await fail(ports, request, end) : await complete(ports, request, end);
  return owned ?? (await outcomeOfOther(ports, request));
}

async function fail(
  ports: CommitPorts,
  request: CommitRequest,
  end: Extract<ExtractionEnd, { kind: 'failed' }>,
): Promise<Outcome | undefined> {
  const { outcome, retry, spendsRetry } = end;
  const failure = { now: ports.clock.now(), reason: outcomeName(outcome), outcome, retry, spendsRetry };
  const key: JobKey = { kind: 'extraction', threadId: request.thread.threadId };
  return (await ports.insist(() => ports.jobs.fail(request.userKey, key, request.token, failure)))
    ? outcome
    : undefined;
}

async function complete(ports: CommitPorts, request: CommitRequest, end: Done): Promise<Outcome | undefined> {
  const { userKey, thread, token } = request;
  const { threadId } = thread;
  const { texts, outcome } = await dropForgotten(ports, request, end);
  const ref = { threadId, sourceUpdatedAt: thread.updatedAt };
  const former = await ports.insist(() => ports.outputs.head(userKey, threadId));
  const body: StageOneBody | null = texts && { rawMemory: texts.rawMemory, rolloutSummary: texts.rolloutSummary };
  const now = ports.clock.now();
  // The texts carry no token: a run that lost its job must not lay its own over those of the run that took over.
  const at = { now, leaseMs: LIMITS.extractionLeaseMs };
  const held = await ports.insist(() => ports.jobs.heartbeat(userKey, { kind: 'extraction', threadId }, token, at));
  if (!held) return undefined;
  if (body !== null) await ports.insist(() => ports.outputs.putBody(userKey, ref, body));

  const output = body && {
    ...ref,
    generatedAt: now,
    slug: texts?.slug ?? null,
    bytes: utf8Length(body.rawMemory) + utf8Length(body.rolloutSummary),
    model: request.model,
    promptVersion: request.promptVersion,
  };
  const completion = { kind: 'extraction', threadId, outcome, output } as const;
  if (!(await ports.insist(() => ports.jobs.complete(userKey, token, now, completion)))) return undefined;
  if (output !== null || former !== undefined)
    await ports.insist(() => ports.jobs.enqueueConsolidation(userKey, thread.updatedAt));
  return outcome;
}

/** A thread that was forgotten while its extraction ran leaves no output (DV-18). */
async function dropForgotten(
  ports: CommitPorts,
  request: CommitRequest,
  end: Done,
): Promise<Pick<Done, 'texts' | 'outcome'>> {
  const thread = await ports.insist(() => ports.threads.get(request.userKey, request.thread.threadId));
  if (thread !== undefined && thread.forgottenAt === null) return end;
  return { texts: null, outcome: { kind: 'skipped', reason: 'forgotten' } };
}

/** Somebody else owns the job by now: what they recorded counts, and nothing of this run was written. */
async function outcomeOfOther(ports: CommitPorts, request: CommitRequest): Promise<Outcome> {
  const job = await ports.jobs.get(request.userKey, { kind: 'extraction', threadId: request.thread.threadId });
  return job?.outcome ?? { kind: 'skipped', reason: 'unchanged', detail: 'another run took the job over' };
}
