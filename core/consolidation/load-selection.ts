import type { SnapshotRef } from '../extraction/stage-one-output.ts';
import type { Settings } from '../settings.ts';
import type { Thread } from '../thread/thread.ts';
import type { StemSource } from '../workspace/file-stem.ts';
import type { WorkspaceInput } from '../workspace/input-files.ts';
import type { ConsolidationPorts } from './consolidation-ports.ts';
import { selectInputs } from './select-inputs.ts';

/** A selected output as a run knows it: what names it, and the project its thread belongs to. */
export interface RunInput extends StemSource {
  readonly project: string;
}

/** With its texts. */
export interface SelectedInput extends RunInput, WorkspaceInput {}

/**
 * Loads what the memory is to rest on (behaviours 1.E): ranks heads, then reads only the chosen texts. An output whose texts
 * are gone is left out and counted.
 * @returns by thread id ascending
 */
export async function loadSelection(
  ports: Pick<ConsolidationPorts, 'outputs' | 'threads' | 'telemetry'>,
  userKey: string,
  settings: Settings,
  now: number,
): Promise<readonly SelectedInput[]> {
  const heads = await ports.outputs.heads(userKey);
  const threads = await ports.threads.getMany(
    userKey,
    heads.map((head) => head.threadId),
  );
  const selected = selectInputs(heads, threads, {
    now,
    limit: settings.maxRawMemoriesForConsolidation,
    maxUnusedDays: settings.maxUnusedDays,
  });
  const bodies = await ports.outputs.bodies(userKey, selected);
  const inputs = selected.flatMap((head): readonly SelectedInput[] => {
    const body = bodies.get(head.threadId);
    const thread = threads.get(head.threadId);
    if (body === undefined || thread === undefined) return [];
    return [{ ...describeThread(thread), ...body, sourceUpdatedAt: head.sourceUpdatedAt, slug: head.slug }];
  });
  const missing = selected.length - inputs.length;
  if (missing > 0) ports.telemetry.event('warn', 'consolidation.bodies_missing', { count: missing });
  return inputs;
}

/**
 * Threads among `inputs` that may no longer be in a memory: forgotten, switched off or gone since they were selected (user
 * case B29).
 */
export async function findWithdrawn(
  ports: Pick<ConsolidationPorts, 'threads'>,
  userKey: string,
  inputs: readonly SnapshotRef[],
): Promise<readonly string[]> {
  const ids = inputs.map((input) => input.threadId);
  const threads = await ports.threads.getMany(userKey, ids);
  return ids.filter((threadId) => {
    const thread = threads.get(threadId);
    return thread === undefined || thread.forgottenAt !== null || thread.memoryMode !== 'enabled';
  });
}

function describeThread(thread: Thread) {
  return {
    threadId: thread.threadId,
    cwd: thread.cwd,
    rolloutPath: thread.rollout.path,
    gitBranch: thread.gitBranch,
    project: thread.project,
  };
}
