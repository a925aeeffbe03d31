import { InvalidInputError, NotFoundError } from '../errors.ts';
import { requireThreadId } from '../ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';
import type { ThreadStore } from '../ports/thread-store.ts';
import { readRollout } from '../rollout/read-rollout.ts';
import { damageOf } from '../rollout/record-counts.ts';
import type { RolloutDamage, RolloutFacts } from '../rollout/rollout.ts';
import { LIMITS, type Settings } from '../settings.ts';
import { registerThread } from './register-thread.ts';
import type { StoredRollout, Thread, UploadedRollout, UploadHints } from './thread.ts';
import { compareUploadOrder } from './upload-order.ts';

export interface TakeInPorts {
  readonly rollouts: RolloutStore;
  readonly threads: ThreadStore;
  readonly jobs: Pick<JobStore, 'wake'>;
  readonly clock: Clock;
}

export interface TakeInRequest {
  readonly userKey: string;
  readonly threadId: string;
  /** Order mark of the upload that is told of; null where it is not known. */
  readonly order: string | null;
  readonly settings: Pick<Settings, 'generateMemories'>;
  /** What the uploader said, where the caller knows it; else what the store kept of it. */
  readonly hints?: UploadHints;
}

/** What became of an upload. After `registered` and `known` the thread's extraction can be tried. */
export type TakenIn =
  /** The catalogue tells of this upload now. */
  | { readonly kind: 'registered' }
  /** It was told of before, or a later upload was. */
  | { readonly kind: 'known' }
  /** There is no such object any more, or its user was erased while it was read. */
  | { readonly kind: 'gone' }
  /** The user had the thread forgotten: the upload was removed again. */
  | { readonly kind: 'forgotten' };

/** What is known of a rollout that cannot be read: its extraction then ends with the reason. */
const UNREAD: RolloutFacts = {
  agentKind: 'unknown',
  formatVersion: null,
  threadId: null,
  source: null,
  subagent: false,
  ephemeral: false,
  parentThreadId: null,
  memoryMode: null,
  cwd: null,
  repository: null,
  gitBranch: null,
  title: null,
  firstAt: null,
  lastAt: null,
  humanMessages: 0,
  assistantMessages: 0,
  toolCalls: 0,
  conversationBytes: 0,
  externalContext: { webSearch: false, toolSearch: false, mcpServers: [] },
};

/**
 * Enters an uploaded rollout in the catalogue: what its records say, else what the uploader said. The same upload again, and
 * one that comes after a later one, change nothing (user cases C3, C4). From here on the thread is due on its own account, so
 * that a message that gets lost loses nothing.
 * @throws InvalidInputError `thread.invalid_id`; UnavailableError of the stores
 */
export async function takeInRollout(ports: TakeInPorts, request: TakeInRequest): Promise<TakenIn> {
  const { userKey, threadId, order } = request;
  requireThreadId(threadId);
  const stored = await ports.threads.get(userKey, threadId);
  if (isForgotten(stored)) return removeForgotten(ports, request);
  if (isOutOfOrder(stored, order)) return { kind: 'known' };
  const found = await ports.rollouts.look(userKey, threadId);
  if (found === undefined) return { kind: 'gone' };
  const uploaded = { ...found, hints: request.hints ?? found.hints };
  const rollout: StoredRollout = { ...uploaded.rollout, order };
  const sameBytes = stored?.rollout.sha256 === rollout.sha256;
  const { facts, reading } = sameBytes ? NOT_READ : await readFacts(ports, request);
  const now = ports.clock.now();
  const { generateMemories } = request.settings;
  // What cannot be read tells no times: nothing shows that its session goes on, and its owner should see the reason now.
  const hints = facts === UNREAD && !sameBytes ? { ...uploaded.hints, ended: true } : uploaded.hints;
  const sighting = { threadId, facts, reading, rollout, hints, now, requestedAt: null, generateMemories };
  // Erasing a user removes uploads before threads: what is entered of one that is gone by now would stay.
  if (stored === undefined && (await ports.rollouts.look(userKey, threadId)) === undefined) return { kind: 'gone' };
  const entered = await ports.threads.update(userKey, threadId, (known) => {
    if (stored !== undefined && known === undefined) return undefined;
    // A later upload may have come in between; and what was not read must not replace what was.
    if (isOutOfOrder(known, order) || (sameBytes && known?.rollout.sha256 !== rollout.sha256)) return undefined;
    return registerThread(known, sighting);
  });
  if (entered === undefined) return { kind: 'gone' };
  if (isForgotten(entered)) return removeForgotten(ports, request);
  if (entered.rollout.sha256 !== rollout.sha256) return { kind: 'known' };
  if (sameBytes && !hasJustEnded(stored, uploaded)) return { kind: 'known' };
  await ports.jobs.wake(userKey, threadId, now + LIMITS.extractionLeaseMs);
  return { kind: 'registered' };
}

function isForgotten(thread: Thread | undefined): boolean {
  return thread !== undefined && thread.forgottenAt !== null;
}

async function removeForgotten(ports: TakeInPorts, { userKey, threadId }: TakeInRequest): Promise<TakenIn> {
  await ports.rollouts.remove(userKey, threadId);
  return { kind: 'forgotten' };
}

function isOutOfOrder(stored: Thread | undefined, order: string | null): boolean {
  const known = stored?.rollout.order ?? null;
  return order !== null && known !== null && compareUploadOrder(order, known) <= 0;
}

/** The same bytes, now said to be the end of the session: the idle wait is over. */
function hasJustEnded(stored: Thread | undefined, uploaded: UploadedRollout): boolean {
  return uploaded.hints.ended === true && stored?.ended === false;
}

interface Read {
  readonly facts: RolloutFacts;
  readonly reading: RolloutDamage | null;
}

const NOT_READ: Read = { facts: UNREAD, reading: null };

async function readFacts(ports: TakeInPorts, { userKey, threadId }: TakeInRequest): Promise<Read> {
  try {
    const reading = await readRollout(await ports.rollouts.open(userKey, threadId), { evidenceTokens: null });
    return { facts: reading.kind === 'read' ? reading.facts : UNREAD, reading: damageOf(reading.counts) };
  } catch (error) {
    // A fault of the rollout itself: the extraction meets it again and records it as the thread's outcome.
    if (error instanceof InvalidInputError || error instanceof NotFoundError) return NOT_READ;
    throw error;
  }
}
