import type { SnapshotRef, StageOneHead } from '../extraction/stage-one-output.ts';
import type { Settings } from '../settings.ts';
import type { Thread } from '../thread/thread.ts';
import type { StemSource } from '../workspace/file-stem.ts';
import type { WorkspaceInput } from '../workspace/input-files.ts';
import type { ConsolidationPorts } from './consolidation-ports.ts';
import { isSelectable, rankHeads, type SelectionRules, selectInputs } from './select-inputs.ts';

/** Catalogue entries read at once. */
const LOOK_AHEAD = 500;

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
  const rules = { now, limit: settings.maxRawMemoriesForConsolidation, maxUnusedDays: settings.maxUnusedDays };
  const { selected, threads } = await selectRanked(ports, userKey, rules);
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
 * The same as `selectInputs` of all heads, with the catalogue read in the order of the rank, as far as it takes: of a hundred
 * thousand outputs that is a few hundred entries.
 */
export async function selectRanked(
  ports: {
    readonly outputs: Pick<ConsolidationPorts['outputs'], 'heads'>;
    readonly threads: Pick<ConsolidationPorts['threads'], 'getMany'>;
  },
  userKey: string,
  rules: SelectionRules,
): Promise<{ readonly selected: readonly StageOneHead[]; readonly threads: ReadonlyMap<string, Thread> }> {
  const ranked = rankHeads(await ports.outputs.heads(userKey));
  const wanted: StageOneHead[] = [];
  const threads = new Map<string, Thread>();
  for (let at = 0; at < ranked.length && wanted.length < rules.limit; at += LOOK_AHEAD) {
    const heads = ranked.slice(at, at + LOOK_AHEAD);
    const ids = heads.map((head) => head.threadId);
    const found = await ports.threads.getMany(userKey, ids);
    for (const head of heads) {
      const thread = found.get(head.threadId);
      if (thread === undefined || !isSelectable(head, found, rules)) continue;
      wanted.push(head);
      threads.set(head.threadId, thread);
    }
  }
  return { selected: selectInputs(wanted, threads, rules), threads };
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
