import { clearReplays } from '../consolidation/replay-shelf.ts';
import type { HeadStore } from '../ports/head-store.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { ReplayStore } from '../ports/replay-store.ts';
import type { StageOneStore } from '../ports/stage-one-store.ts';

export interface ResetPorts {
  readonly heads: HeadStore;
  readonly jobs: JobStore;
  readonly outputs: StageOneStore;
  readonly replays: Pick<ReplayStore, 'list' | 'remove'>;
}

export interface Reset {
  readonly epoch: number;
  readonly outputs: number;
  readonly bodies: number;
}

/**
 * Resets the stored memory of a user (behaviours D-02, D-03, DV-18): nothing is published any more, outputs and jobs of both
 * kinds are gone, and so are the records of former runs; threads with their modes and tombstones stay, so every thread in the age window may be extracted again.
 * The epoch rises first: a consolidation in flight cannot publish, and an extraction in flight loses its job. Repeating it
 * finishes what a first call left.
 */
export async function resetMemory(ports: ResetPorts, userKey: string): Promise<Reset> {
  const { epoch } = await ports.heads.reset(userKey);
  const outputs = (await ports.outputs.heads(userKey)).length;
  await ports.jobs.clear(userKey);
  const bodies = await ports.outputs.removeOrphanBodies(userKey);
  await clearReplays(ports.replays, userKey);
  return { epoch, outputs, bodies };
}
