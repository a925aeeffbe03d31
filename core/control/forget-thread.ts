import { forgetReplays } from '../consolidation/replay-shelf.ts';
import { NotFoundError } from '../errors.ts';
import { requireThreadId } from '../ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { HeadStore } from '../ports/head-store.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import type { ReplayStore } from '../ports/replay-store.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';
import type { StageOneStore } from '../ports/stage-one-store.ts';
import type { ThreadStore } from '../ports/thread-store.ts';
import type { TokenSource } from '../ports/token-source.ts';
import type { Thread } from '../thread/thread.ts';
import { forgetInHistory, type HistoryCut } from './forget-in-history.ts';
import { forgetInVersion } from './forget-in-version.ts';

export interface ForgetPorts {
  readonly threads: ThreadStore;
  readonly jobs: JobStore;
  readonly outputs: StageOneStore;
  readonly rollouts: Pick<RolloutStore, 'remove'>;
  readonly replays: Pick<ReplayStore, 'list' | 'read' | 'remove'>;
  readonly heads: HeadStore;
  readonly memories: MemoryStore;
  readonly clock: Clock;
  readonly tokens: TokenSource;
}

export interface Forgotten {
  readonly threadId: string;
  readonly forgottenAt: number;
  /** A memory may rest on the thread, so a consolidation was made due. */
  readonly consolidationDue: boolean;
  /** The version that was made without what rested on the thread; null where nothing did. */
  readonly version: number | null;
}

/**
 * Forgets a thread (behaviours D-01, DV-18; user cases A23, B29). The tombstone comes first: from then on the thread is
 * neither extracted nor selected, and a repeated upload does not bring it back. What the catalogue told of it is blanked.
 * Then what rests on it leaves the current version (`forgetInVersion`), so that no reader meets it again; then job and output
 * go, so that an extraction in flight loses ownership, then the texts, the records of runs that rested on it, and the rollout.
 *
 * A selected output makes a consolidation due before it goes, so that a death in between loses nothing; so does a
 * consolidation that runs, since it may have read the output: that one loses the fence as well, so that it cannot publish what
 * rests on the thread, and the next one follows at once. Every step may be repeated: forgetting again finishes what a
 * first call left, and keeps its time.
 * @param history `own`: the thread's rollout summaries leave the history, and what shared files of older versions held of it is
 *   withheld until it expires; `purge`: nothing older than the present version stays readable
 * @throws InvalidInputError `thread.invalid_id`; NotFoundError `thread.not_found`
 */
export async function forgetThread(
  ports: ForgetPorts,
  userKey: string,
  threadId: string,
  history: HistoryCut = 'own',
): Promise<Forgotten> {
  requireThreadId(threadId);
  const now = ports.clock.now();
  const thread = await ports.threads.update(userKey, threadId, (stored) => stored && entomb(stored, now));
  if (thread === undefined)
    throw new NotFoundError('thread.not_found', 'no such thread', { details: { thread_id: threadId } });

  const withdrawn = await withdraw(ports, userKey, { threadId, now });
  await removeKept(ports, userKey, threadId);
  await forgetInHistory(ports, userKey, { threadId, cut: history });
  return { threadId, forgottenAt: thread.forgottenAt ?? now, ...withdrawn };
}

/**
 * Takes the thread out of the memory, and its output out of the next selection. A consolidation that runs may have read either:
 * it loses the fence, and the next one follows at once. That is told before anything goes, so that a death in between leaves a
 * run that takes out what this did not.
 */
async function withdraw(
  ports: ForgetPorts,
  userKey: string,
  { threadId, now }: { readonly threadId: string; readonly now: number },
): Promise<Pick<Forgotten, 'consolidationDue' | 'version'>> {
  const head = await ports.outputs.head(userKey, threadId);
  const consolidation = await ports.jobs.get(userKey, { kind: 'consolidation' });
  const runs = consolidation?.status === 'running';
  const leaveToNextRun = async (): Promise<true> => {
    await ports.jobs.enqueueConsolidation(userKey, now);
    if (runs) await ports.heads.setFence(userKey, ports.tokens.next());
    return true;
  };
  let consolidationDue = false;
  if (isSelected(head) || (runs && head !== undefined)) consolidationDue = await leaveToNextRun();
  const version = await forgetInVersion(ports, userKey, { threadId, now });
  if (version !== null && !consolidationDue) consolidationDue = await leaveToNextRun();
  const removed = await ports.jobs.removeExtraction(userKey, threadId);
  const late = !consolidationDue && isSelected(removed); // a consolidation ended between the look and the removal
  if (late) consolidationDue = await leaveToNextRun();
  return { consolidationDue, version };
}

/** What else is kept of the thread or rests on it: texts, records of runs, the rollout. Another store adds its line here. */
async function removeKept(ports: ForgetPorts, userKey: string, threadId: string): Promise<void> {
  await ports.outputs.removeOrphanBodies(userKey);
  await forgetReplays(ports.replays, userKey, threadId);
  await ports.rollouts.remove(userKey, threadId);
}

/** Only what is needed to know the thread again when it comes back. */
function entomb(stored: Thread, now: number): Thread | undefined {
  if (stored.forgottenAt !== null) return undefined;
  return {
    ...stored,
    cwd: null,
    repository: null,
    project: 'unknown',
    gitBranch: null,
    title: null,
    requestedAt: null,
    forgottenAt: now,
    rollout: { ...stored.rollout, path: '' },
    reading: null,
  };
}

function isSelected(head: { readonly selectedSnapshot: number | null } | undefined): boolean {
  return (head?.selectedSnapshot ?? null) !== null;
}
