import { forgetReplays } from '../consolidation/replay-shelf.ts';
import { NotFoundError } from '../errors.ts';
import { requireThreadId } from '../ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { HeadStore } from '../ports/head-store.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { ReplayStore } from '../ports/replay-store.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';
import type { StageOneStore } from '../ports/stage-one-store.ts';
import type { ThreadStore } from '../ports/thread-store.ts';
import type { TokenSource } from '../ports/token-source.ts';
import type { Thread } from '../thread/thread.ts';

export interface ForgetPorts {
  readonly threads: ThreadStore;
  readonly jobs: JobStore;
  readonly outputs: StageOneStore;
  readonly rollouts: Pick<RolloutStore, 'remove'>;
  readonly replays: Pick<ReplayStore, 'list' | 'read' | 'remove'>;
  readonly heads: Pick<HeadStore, 'setFence'>;
  readonly clock: Clock;
  readonly tokens: TokenSource;
}

export interface Forgotten {
  readonly threadId: string;
  readonly forgottenAt: number;
  /** A memory may rest on the thread, so a consolidation was made due. */
  readonly consolidationDue: boolean;
}

/**
 * Forgets a thread (behaviours D-01, DV-18; user cases A23, B29). The tombstone comes first: from then on the thread is
 * neither extracted nor selected, and a repeated upload does not bring it back. What the catalogue told of it is blanked.
 * Then job and output go, so that an extraction in flight loses ownership, then the texts, then the records of runs that rested on it, then the rollout.
 *
 * A selected output makes a consolidation due before it goes, so that a death in between loses nothing; so does a
 * consolidation that runs, since it may have read the output: that one loses the fence as well, so that it cannot publish what
 * rests on the thread, and the next one follows at once. Every step may be repeated: forgetting again finishes what a
 * first call left, and keeps its time.
 * @throws InvalidInputError `thread.invalid_id`; NotFoundError `thread.not_found`
 */
export async function forgetThread(ports: ForgetPorts, userKey: string, threadId: string): Promise<Forgotten> {
  requireThreadId(threadId);
  const now = ports.clock.now();
  const thread = await ports.threads.update(userKey, threadId, (stored) => stored && entomb(stored, now));
  if (thread === undefined)
    throw new NotFoundError('thread.not_found', 'no such thread', { details: { thread_id: threadId } });

  const head = await ports.outputs.head(userKey, threadId);
  const consolidation = await ports.jobs.get(userKey, { kind: 'consolidation' });
  const mayBeRead = head !== undefined && consolidation?.status === 'running';
  const expected = isSelected(head) || mayBeRead;
  if (expected) await ports.jobs.enqueueConsolidation(userKey, now);
  if (mayBeRead) await ports.heads.setFence(userKey, ports.tokens.next());
  const removed = await ports.jobs.removeExtraction(userKey, threadId);
  const late = !expected && isSelected(removed); // a consolidation ended between the look and the removal
  if (late) await ports.jobs.enqueueConsolidation(userKey, now);

  await ports.outputs.removeOrphanBodies(userKey);
  await forgetReplays(ports.replays, userKey, threadId);
  await ports.rollouts.remove(userKey, threadId);
  return { threadId, forgottenAt: thread.forgottenAt ?? now, consolidationDue: expected || late };
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
