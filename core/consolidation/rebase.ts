import { bearsProvenance } from '../memory/provenance.ts';
import type { FileEntry, Manifest, VersionReason } from './manifest.ts';

/** What a person did to the files as they saw them: a run has to begin again from it (user case A31). */
const BY_HAND: ReadonlySet<VersionReason> = new Set(['edit', 'restore', 'import']);

type Draft = Omit<Manifest, 'version'>;
type Lineage = Pick<Manifest, 'inputs' | 'removed' | 'notesConsumed'>;
type Files = Readonly<Record<string, FileEntry>>;

/**
 * Puts a version that was built on `base` on top of the head that was switched to meanwhile (storage.md, "Publishing"):
 * the paths that others changed take the head's entries, all others ours.
 *
 * @param chain the versions after the base up to the head, newest first
 * @returns undefined where that would lose something: both sides changed a path, an input of ours was removed, or a person
 *   changed files that a consolidation did not see, so that it could not heed them and the next one would take them as known
 */
export function rebaseManifest(
  draft: Draft,
  base: Manifest | undefined,
  chain: readonly Manifest[],
): Draft | undefined {
  const head = chain[0];
  if (head === undefined) return draft;
  const baseFiles = base?.files ?? {};
  const theirs = changedPaths(baseFiles, head.files);
  const ours = changedPaths(baseFiles, draft.files);
  if (ours.some((path) => theirs.includes(path))) return undefined;
  if (losesSomething(draft, chain)) return undefined;

  const files: Record<string, FileEntry> = { ...draft.files };
  for (const path of theirs) {
    const entry = head.files[path];
    if (entry === undefined) delete files[path];
    else files[path] = entry;
  }
  const lineage = carryLineage(draft, base, head);
  const notesConsumed = lineage.notesConsumed.filter((path) => Object.hasOwn(files, path));
  const { provenance, ...rest } = draft;
  const known = provenance !== undefined && !theirs.some(bearsProvenance) ? { provenance } : {};
  return { ...rest, ...known, ...lineage, notesConsumed, parent: head.version, files };
}

function changedPaths(before: Files, after: Files): readonly string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...paths].filter((path) => before[path]?.sha256 !== after[path]?.sha256);
}

function losesSomething(draft: Draft, chain: readonly Manifest[]): boolean {
  if (draft.reason !== 'consolidation') return false;
  if (chain.some((manifest) => BY_HAND.has(manifest.reason))) return true;
  const removed = new Set(chain.flatMap((manifest) => manifest.removed));
  return draft.inputs.some((input) => removed.has(input.threadId));
}

/** A consolidation says itself what it rests on; a small version rests on what its parent does, less what it removed. */
function carryLineage(draft: Draft, base: Manifest | undefined, head: Manifest): Lineage {
  if (draft.reason === 'consolidation') {
    const kept = new Set(draft.inputs.map((input) => input.threadId));
    const removed = head.inputs.map((input) => input.threadId).filter((threadId) => !kept.has(threadId));
    return { inputs: draft.inputs, removed, notesConsumed: draft.notesConsumed };
  }
  const known = new Set(base?.notesConsumed ?? []);
  const fresh = draft.notesConsumed.filter((path) => !known.has(path));
  return {
    inputs: head.inputs.filter((input) => !draft.removed.includes(input.threadId)),
    removed: draft.removed,
    notesConsumed: [...new Set([...head.notesConsumed, ...fresh])],
  };
}
