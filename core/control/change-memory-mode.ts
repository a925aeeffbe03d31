import type { Clock } from '../ports/clock.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { StageOneStore } from '../ports/stage-one-store.ts';
import type { ThreadStore } from '../ports/thread-store.ts';
import type { MemoryMode } from '../thread/thread.ts';

export interface MemoryModePorts {
  readonly threads: ThreadStore;
  readonly jobs: JobStore;
  readonly outputs: StageOneStore;
  readonly clock: Clock;
}

/**
 * Sets the memory mode of a thread and makes a consolidation due where that changes what memory rests on (behaviours Q-03,
 * a selected output that must leave, also when the mode was set before, since an earlier call may have died in
 * between; or an output that may come back. The output itself is kept.
 * @returns true only when the mode changed; false also for an unknown thread
 */
export async function changeMemoryMode(
  ports: MemoryModePorts,
  userKey: string,
  threadId: string,
  mode: MemoryMode,
): Promise<boolean> {
  const changed = await ports.threads.setMemoryMode(userKey, threadId, mode);
  const head = await ports.outputs.head(userKey, threadId);
  const leaves = mode !== 'enabled' && (head?.selectedSnapshot ?? null) !== null;
  const returns = mode === 'enabled' && changed && head !== undefined;
  if (leaves || returns) await ports.jobs.enqueueConsolidation(userKey, ports.clock.now());
  if (mode === 'enabled' && changed) await ports.jobs.wake(userKey, threadId, ports.clock.now());
  return changed;
}
