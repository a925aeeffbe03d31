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
 * Reads all that a run needs, from the head as the run found it. Writes nothing.
 * @param keepLease called before each version is read: many small versions may lie between two consolidations
 */
export async function loadStart(
  ports: ConsolidationPorts,
  request: ConsolidationRequest,
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
  const baseFiles = await readTree(ports.memories, userKey, base);
  const baselineFiles =
    baseline === base ? baseFiles : await readTree(ports.memories, userKey, baseline, contentsOf(base, baseFiles));
  const { text } = await ports.templates.get('ad_hoc_instructions');
  const workspace = prepareWorkspace({
    base: baseFiles,
    baseInputs: base?.inputs ?? [],
    baseline: {
      files: baselineFiles,
      inputs: baseline?.inputs ?? [],
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
