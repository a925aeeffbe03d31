import { citedThreads } from '../memory/find-forgotten.ts';
import { decodeUtf8 } from '../text.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import type { ArtifactFault } from './artifact-fault.ts';
import { MEMORY_PATH, SKILLS_FOLDER, SUMMARY_PATH } from './output-paths.ts';
import type { Workspace } from './prepare-workspace.ts';
import { checkShrink, checkSkillShrink, checkSummaryShrink, type Loss, type RunChange } from './shrink-guard.ts';
import { unmarkedBytes } from './stale-lines.ts';

/** What a result is held against. */
export interface ShrinkBase {
  readonly workspace: Pick<Workspace, 'files' | 'inputs' | 'newNotes'>;
  readonly selection: readonly { readonly threadId: string }[];
  /** MEMORY.md of the current version, hand edits included; undefined before the first. */
  readonly memoryBefore: Uint8Array | undefined;
  /** Threads that the last consolidation rested on. */
  readonly inputsBefore: number;
}

/**
 * What of the current version a result destroys (DV-19): of MEMORY.md, of the summary, of the skills.
 * @param valid where the grammar is broken, citations cannot be counted
 */
export function findShrinkage(base: ShrinkBase, files: FileTree, valid: boolean): readonly ArtifactFault[] {
  const before = base.workspace.files;
  const { inputs, newNotes } = base.workspace;
  const change = { inputsBefore: base.inputsBefore, inputsRemoved: inputs.removed.length, newNotes: newNotes.length };
  const summary = checkSummaryShrink(
    unmarkedBytes(before.get(SUMMARY_PATH)),
    files.get(SUMMARY_PATH)?.length ?? 0,
    change,
  );
  const skills = checkSkillShrink(skillBytes(before), skillBytes(files), change);
  return [
    ...findMemoryShrinkage(base, files, { ...change, valid }),
    ...(summary === undefined ? [] : [shrunk('summary.shrunk', SUMMARY_PATH, 'its length', summary)]),
    ...(skills === undefined ? [] : [shrunk('skill.shrunk', SKILLS_FOLDER, 'all skills', skills)]),
  ];
}

function findMemoryShrinkage(
  base: ShrinkBase,
  files: FileTree,
  change: RunChange & { readonly valid: boolean },
): readonly ArtifactFault[] {
  const selected = new Set(base.selection.map((input) => input.threadId));
  const textOf = (content: Uint8Array | undefined): string => decodeUtf8(content ?? new Uint8Array());
  const citedBefore = citedThreads(textOf(base.memoryBefore)).filter((threadId) => selected.has(threadId));
  const citedAfter = new Set(citedThreads(textOf(files.get(MEMORY_PATH))));
  const verdict = checkShrink({
    ...change,
    bytesBefore: unmarkedBytes(base.memoryBefore),
    bytesAfter: files.get(MEMORY_PATH)?.length ?? 0,
    citedBefore: citedBefore.length,
    citationsLost: change.valid ? citedBefore.filter((threadId) => !citedAfter.has(threadId)).length : 0,
  });
  if (verdict.kind === 'allowed') return [];
  const of = verdict.measure === 'size' ? 'its length' : 'its sources among the retained inputs';
  return [shrunk('memory.shrunk', MEMORY_PATH, of, verdict)];
}

function shrunk(code: string, place: string, of: string, { lostPercent, allowedPercent }: Loss): ArtifactFault {
  return {
    code,
    place,
    message: `${Math.ceil(lostPercent)} % of ${of} is lost, at most ${Math.floor(allowedPercent)} % may go`,
    cure: 'put back what did not rest on removed inputs alone',
  };
}

function skillBytes(tree: FileTree): ReadonlyMap<string, number> {
  const bytes = new Map<string, number>();
  for (const [path, content] of tree) {
    const name = /^skills\/([^/]+)\//.exec(path)?.[1];
    if (name !== undefined) bytes.set(name, (bytes.get(name) ?? 0) + content.length);
  }
  return bytes;
}
