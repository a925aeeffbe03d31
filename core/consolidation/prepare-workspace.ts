import type { SnapshotRef } from '../extraction/stage-one-output.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import { encodeUtf8 } from '../text.ts';
import { pruneExtensions } from '../workspace/extension-prune.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import { RAW_MEMORIES_PATH, ROLLOUT_SUMMARIES_FOLDER, syncInputs } from '../workspace/input-files.ts';
import { DIFF_PATH, diffTrees, renderDiffFile, type WorkspaceChange } from '../workspace/workspace-diff.ts';
import type { InputChanges } from './consolidation-ports.ts';
import type { SelectedInput } from './load-selection.ts';
import type { Manifest } from './manifest.ts';
import { listPendingNotes } from './pending-notes.ts';

/** Where inputs that fell out of the selection lie during a run (DV-12). */
export const REMOVED_FOLDER = 'removed/';
const INSTRUCTIONS_PATH = 'extensions/ad_hoc/instructions.md';
const READS_AT_ONCE = 16;

/** What a run works on, all of it in memory (DV-10). */
export interface Workspace {
  /** The files that would be published if the agent changed nothing. */
  readonly files: FileTree;
  readonly changes: readonly WorkspaceChange[];
  readonly inputs: InputChanges;
  /** Threads that the last consolidation rested on, and those of a version that was restored since. */
  readonly inputsBefore: number;
  /** Notes that no consolidation has taken in yet. */
  readonly newNotes: readonly string[];
}

export interface WorkspaceSources {
  /** Files of the current version, and what it rests on. */
  readonly base: FileTree;
  readonly baseInputs: readonly SnapshotRef[];
  /** Files and inputs of the last consolidation, and the notes it took in. */
  readonly baseline: {
    readonly files: FileTree;
    readonly inputs: readonly SnapshotRef[];
    readonly notesConsumed: readonly string[];
  };
  readonly selection: readonly SelectedInput[];
  /** Text of `extensions/ad_hoc/instructions.md` where a note exists without it. */
  readonly noteInstructions: string;
  readonly now: number;
}

/**
 * Brings the files of the current version up to the selection and finds what changed since the last consolidation
 * (behaviours G-02, 1.I, K-05). Hand edits and notes since then are changes like any other. A note that the last
 * consolidation did not see counts as new even where its version has it, because it was merged over.
 */
export function prepareWorkspace(sources: WorkspaceSources): Workspace {
  const { base, baseline, selection } = sources;
  const synced =
    selection.length === 0 && !base.has(RAW_MEMORIES_PATH) ? new Map(base) : new Map(syncInputs(base, selection));
  const pruned = new Map(pruneExtensions(synced, sources.now).tree);
  const newNotes = listPendingNotes(pruned.keys(), baseline.notesConsumed);
  if (newNotes.length > 0 && !pruned.has(INSTRUCTIONS_PATH))
    pruned.set(INSTRUCTIONS_PATH, encodeUtf8(sources.noteInstructions));
  const files = publishedFiles(pruned);
  const unseen = new Set(newNotes);
  const seen = new Map([...withSummaries(baseline.files, base)].filter(([path]) => !unseen.has(path)));
  const before = joinInputs(baseline.inputs, sources.baseInputs);
  const inputs = compareInputs(before, selection);
  return { files, changes: diffTrees(seen, files), inputs, inputsBefore: before.length, newNotes };
}

/**
 * The tree that the agent sees: the files, the diff to read first, and the inputs that fell out of the selection under
 * `removed/`, for this run only (DV-12).
 */
export function agentTree(workspace: Workspace): FileTree {
  const tree = new Map(workspace.files);
  for (const change of workspace.changes) {
    const input = change.path.startsWith(ROLLOUT_SUMMARIES_FOLDER) || change.path.startsWith('extensions/');
    if (change.status === 'D' && input) tree.set(`${REMOVED_FOLDER}${change.path}`, change.before);
  }
  tree.set(DIFF_PATH, encodeUtf8(renderDiffFile(workspace.changes)));
  return tree;
}

/** What of a workspace goes into a version: all but the diff file and `removed/`. */
export function publishedFiles(tree: FileTree): FileTree {
  return new Map([...tree].filter(([path]) => path !== DIFF_PATH && !path.startsWith(REMOVED_FOLDER)));
}

/** Reads all files of a version, a few at a time; `known` holds contents at hand, by SHA-256. */
export async function readTree(
  memories: Pick<MemoryStore, 'readFile'>,
  userKey: string,
  manifest: Pick<Manifest, 'files'> | undefined,
  known: ReadonlyMap<string, Uint8Array> = new Map(),
): Promise<FileTree> {
  const entries = Object.entries(manifest?.files ?? {});
  const tree = new Map<string, Uint8Array>();
  for (let at = 0; at < entries.length; at += READS_AT_ONCE) {
    const batch = entries.slice(at, at + READS_AT_ONCE).map(async ([path, entry]) => {
      const content = known.get(entry.sha256) ?? (await memories.readFile(userKey, path, entry));
      return [path, content] as const;
    });
    for (const [path, content] of await Promise.all(batch)) tree.set(path, content);
  }
  return tree;
}

/**
 * A version that was restored may rest on threads that the last consolidation knew nothing of: where they are not selected
 * either, they are removed inputs like any other.
 */
function joinInputs(baseline: readonly SnapshotRef[], base: readonly SnapshotRef[]): readonly SnapshotRef[] {
  const known = new Set(baseline.map((input) => input.threadId));
  return [...baseline, ...base.filter((input) => !known.has(input.threadId))];
}

/** And their summaries are seen to leave (DV-12). */
function withSummaries(baseline: FileTree, base: FileTree): FileTree {
  const restored = [...base].filter(([path]) => path.startsWith(ROLLOUT_SUMMARIES_FOLDER) && !baseline.has(path));
  return restored.length === 0 ? baseline : new Map([...baseline, ...restored]);
}

function compareInputs(before: readonly SnapshotRef[], after: readonly SnapshotRef[]): InputChanges {
  const known = new Map(before.map((input) => [input.threadId, input.sourceUpdatedAt]));
  const selected = new Set(after.map((input) => input.threadId));
  const isRetained = (input: SnapshotRef): boolean => known.get(input.threadId) === input.sourceUpdatedAt;
  const idsOf = (refs: readonly SnapshotRef[]): readonly string[] => refs.map((ref) => ref.threadId);
  return {
    added: idsOf(after.filter((input) => !isRetained(input))),
    retained: idsOf(after.filter(isRetained)),
    removed: idsOf(before.filter((input) => !selected.has(input.threadId))),
  };
}
