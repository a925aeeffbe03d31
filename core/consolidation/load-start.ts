import { DefectError } from '../errors.ts';
import type { SnapshotRef } from '../extraction/stage-one-output.ts';
import { findForgotten, namedThreads } from '../memory/find-forgotten.ts';
import { withoutForgotten } from '../memory/without-forgotten.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import type { ConsolidationPorts, ConsolidationRequest } from './consolidation-ports.ts';
import { loadSelection, type RunInput, type SelectedInput } from './load-selection.ts';
import type { Head, Manifest } from './manifest.ts';
import { MEMORY_PATH } from './output-paths.ts';
import { prepareWorkspace, readTree, type Workspace } from './prepare-workspace.ts';
import { findBaseline, loadVersionChain } from './version-chain.ts';

/** What a run works on: all that decides which answer it gets and what it makes of it. */
export interface RunStart {
  /** Undefined: nothing was published yet. */
  readonly base: Manifest | undefined;
  readonly selection: readonly RunInput[];
  readonly workspace: Workspace;
  /** MEMORY.md of the current version, hand edits included; undefined where there is none. */
  readonly memoryBefore: Uint8Array | undefined;
  /** Threads that the last consolidation rested on, and those of a version that was restored since. */
  readonly inputsBefore: number;
}

/** What a run starts from: the current version, the selection, and what changed since the last consolidation. */
export interface Start extends RunStart {
  readonly head: Head;
  /** Undefined: none yet. */
  readonly baseline: Manifest | undefined;
  readonly selection: readonly SelectedInput[];
}

/**
 * Reads all that a run needs, from the head as the run found it. Writes nothing. What rests on a thread that was forgotten since
 * is taken out of both versions, so that the run meets it neither as a file nor as a difference (DV-18).
 * @param keepLease called before each version is read: many small versions may lie between two consolidations
 */
export async function loadStart(
  ports: Pick<ConsolidationPorts, 'outputs' | 'threads' | 'memories' | 'templates' | 'clock' | 'telemetry'>,
  request: Pick<ConsolidationRequest, 'userKey' | 'settings'>,
  head: Head,
  keepLease: () => Promise<unknown>,
): Promise<Start> {
  const { userKey, settings } = request;
  const now = ports.clock.now();
  const selection = await loadSelection(ports, userKey, settings, now);
  const versions = {
    manifest: async (user: string, version: number) => {
      await keepLease();
      return ports.memories.manifest(user, version);
    },
  };
  const chain = await loadVersionChain(versions, userKey, head.version, isConsolidation);
  const base = chain[0];
  const baseline = findBaseline(chain);
  const storedFiles = await readTree(ports.memories, userKey, base);
  const formerFiles =
    baseline === base
      ? storedFiles
      : await readTree(orEmpty(ports.memories), userKey, baseline, contentsOf(base, storedFiles));
  const stillThere = new Map(
    [...formerFiles].filter(([path, content]) => content.length > 0 || baseline?.files[path]?.bytes === 0),
  );
  const inputs = [...(base?.inputs ?? []), ...(baseline?.inputs ?? [])].map((input) => input.threadId);
  const named = new Set([...inputs, ...namedThreads(stillThere)]);
  const forgotten = await findForgotten(ports.threads, userKey, storedFiles, named);
  const isKnown = (input: SnapshotRef): boolean => !forgotten.has(input.threadId);
  const baseFiles = withoutForgotten(storedFiles, forgotten);
  const { text } = await ports.templates.get('ad_hoc_instructions');
  const workspace = prepareWorkspace({
    base: baseFiles,
    baseInputs: (base?.inputs ?? []).filter(isKnown),
    baseline: {
      files: withoutForgotten(stillThere, forgotten),
      inputs: (baseline?.inputs ?? []).filter(isKnown),
      notesConsumed: baseline?.notesConsumed ?? [],
    },
    selection,
    noteInstructions: text,
    now,
  });
  const memoryBefore = baseFiles.get(MEMORY_PATH);
  return { head, base, baseline, selection, workspace, memoryBefore, inputsBefore: workspace.inputsBefore };
}

function isConsolidation(manifest: Manifest): boolean {
  return manifest.reason === 'consolidation';
}

/** A text that is gone from an older version went with a forgotten thread: it reads as empty here, and counts as not there. */
function orEmpty(memories: Pick<MemoryStore, 'readFile'>): Pick<MemoryStore, 'readFile'> {
  return {
    readFile: (userKey, path, entry) =>
      memories.readFile(userKey, path, entry).catch((error: unknown) => {
        const isGone = error instanceof DefectError && error.code === 'memory.content_gone';
        if (!isGone) throw error;
        return new Uint8Array();
      }),
  };
}

/** Contents at hand by SHA-256: most files of two versions are the same. */
function contentsOf(
  manifest: Manifest | undefined,
  files: ReadonlyMap<string, Uint8Array>,
): ReadonlyMap<string, Uint8Array> {
  return new Map(
    Object.entries(manifest?.files ?? {}).flatMap(([path, entry]) => {
      const content = files.get(path);
      return content === undefined ? [] : [[entry.sha256, content] as const];
    }),
  );
}
