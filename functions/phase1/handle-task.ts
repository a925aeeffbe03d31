import { DefectError, unreachable } from '../../core/errors.ts';
import { extractThread } from '../../core/extraction/extract-thread.ts';
import type { Outcome } from '../../core/extraction/outcome.ts';
import { queueExtraction, type UploadFollowUp } from '../../core/extraction/queue-extraction.ts';
import { type Settings, withDefaultBudget } from '../../core/settings.ts';
import { rulesForThread } from '../../core/thread/eligibility.ts';
import { takeInRollout } from '../../core/thread/take-in-rollout.ts';
import type { Thread } from '../../core/thread/thread.ts';
import type { Task } from './decode-record.ts';
import type { Phase1Deps } from './deps.ts';
import type { Worker } from './worker.ts';

type Uploaded = Extract<Task, { kind: 'uploaded' }>;
type ThreadDue = Extract<Task, { kind: 'thread_due' }>;
type ThreadRef = Pick<ThreadDue, 'userKey' | 'threadId'>;

/**
 * Does one task of a message. Every expected end is recorded where it belongs and answered by returning. An upload is only
 * taken in, a second's work; its extraction waits for its user's turn (user case C21). A thread whose model cannot be used is
 * put off without a claim, so that nothing of it is used up (user case A37).
 * @param ports with the model of this invocation
 * @throws the six failures of what it calls; DefectError `queue.message_unreadable` for a task of no known shape
 */
export async function handleTask(worker: Worker, ports: Phase1Deps, task: Task): Promise<void> {
  switch (task.kind) {
    case 'uploaded':
      return takeIn(ports, task);
    case 'thread_due':
      return extractDue(worker, ports, task);
    case 'foreign':
      return refuseForeign(ports, task);
    case 'unreadable':
      throw new DefectError('queue.message_unreadable', 'a record of a queue message is of no known shape');
    default:
      return unreachable(task);
  }
}

async function takeIn(ports: Phase1Deps, task: Uploaded): Promise<void> {
  const { userKey, threadId, order } = task;
  ports.tracing.correlate({ thread_id: threadId });
  const settings = await ports.settings.read(userKey);
  const taken = await takeInRollout(ports, { userKey, threadId, order, settings });
  const isThere = taken.kind === 'registered' || taken.kind === 'known';
  const next = isThere ? await follow(ports, task, { settings, isNew: taken.kind === 'registered' }) : 'nothing';
  ports.telemetry.event('info', 'upload.taken_in', { thread_id: threadId, outcome: taken.kind, next });
}

/** @returns what follows on the upload */
async function follow(
  ports: Phase1Deps,
  task: ThreadRef,
  of: { readonly settings: Settings; readonly isNew: boolean },
): Promise<UploadFollowUp | 'nothing'> {
  const thread = await ports.threads.get(task.userKey, task.threadId);
  if (thread !== undefined) return queueExtraction(ports, { userKey: task.userKey, thread, ...of });
  await removeStaleJob(ports, task);
  return 'nothing';
}

async function extractDue(worker: Worker, ports: Phase1Deps, task: ThreadDue): Promise<void> {
  const { userKey, threadId } = task;
  ports.tracing.correlate({ thread_id: threadId });
  const settings = withDefaultBudget(await ports.settings.read(userKey), ports.dailyTokenBudget);
  const thread = await ports.threads.get(userKey, threadId);
  if (thread === undefined) return removeStaleJob(ports, task);
  const model = settings.extractModel ?? ports.extractModel;
  const pausedUntil = worker.pause.endOf(model);
  if (pausedUntil !== undefined) return putOff(ports, task, pausedUntil);
  const outcome = await extract(worker, ports, { userKey, thread, settings, model });
  if (outcome.kind === 'failed' && outcome.reason === 'configuration') worker.pause.begin(model);
  if (isAboutEvidence(outcome)) worker.evidence.forget(userKey, model);
}

/** The catalogue does not know the thread (erased, or never entered): its job would be due for ever. */
async function removeStaleJob(ports: Phase1Deps, { userKey, threadId }: ThreadRef): Promise<void> {
  await ports.jobs.removeExtraction(userKey, threadId);
  ports.telemetry.event('info', 'extraction.unknown_thread', { thread_id: threadId });
}

async function putOff(ports: Phase1Deps, { userKey, threadId }: ThreadRef, until: number): Promise<void> {
  await ports.jobs.wake(userKey, threadId, until);
  ports.telemetry.count('stillroom.phase1', 1, { status: 'paused' });
  ports.telemetry.event('info', 'extraction.paused', { thread_id: threadId, until });
}

interface Extraction {
  readonly userKey: string;
  readonly thread: Thread;
  readonly settings: Settings;
  readonly model: string;
}

async function extract(worker: Worker, ports: Phase1Deps, work: Extraction): Promise<Outcome> {
  const { userKey, thread, settings, model } = work;
  const remembered = await worker.evidence.recall(userKey, model, thread.rollout.bytes);
  return ports.tracing.withSpan('phase1.extract', { thread_id: thread.threadId }, () =>
    extractThread(ports, {
      userKey,
      threadId: thread.threadId,
      settings,
      model,
      rememberedEvidenceTokens: remembered,
      ...rulesForThread(thread, settings),
    }),
  );
}

/** Whether the outcome may carry a new note on how much evidence the model takes (DV-14). */
function isAboutEvidence(outcome: Outcome): boolean {
  if (outcome.kind === 'failed') return outcome.reason === 'too_large';
  return (outcome.kind === 'extracted' || outcome.kind === 'no_output') && outcome.detail !== undefined;
}

/** Not a rollout of ours (user case C13): there is no thread to record it with, so it is told and done with. */
function refuseForeign(ports: Phase1Deps, task: Extract<Task, { kind: 'foreign' }>): void {
  ports.telemetry.count('stillroom.phase1', 1, { status: 'failed', outcome: 'failed(foreign)' });
  ports.telemetry.event('warn', 'upload.foreign', { key_hash: task.keyHash, key_bytes: task.keyBytes });
}
