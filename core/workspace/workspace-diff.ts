import { structuredPatch } from 'diff';
import { LIMITS } from '../settings.ts';
import { charBoundaryBefore, compareBytes, decodeUtf8, encodeUtf8, utf8Length } from '../text.ts';
import type { FileTree } from './file-tree.ts';

/** Where the diff lies in a workspace; never part of a version. */
export const DIFF_PATH = 'phase2_workspace_diff.md';

/** Past so many edits a line-by-line diff costs more than it tells: the file is shown as replaced. */
const MAX_EDITS = 2_000;
const CONTEXT_LINES = 3;

/** One changed file. A rename is two changes. */
export type WorkspaceChange =
  | { readonly status: 'A'; readonly path: string; readonly before: null; readonly after: Uint8Array }
  | { readonly status: 'M'; readonly path: string; readonly before: Uint8Array; readonly after: Uint8Array }
  | { readonly status: 'D'; readonly path: string; readonly before: Uint8Array; readonly after: null };

/** What changed from `base` to `current`, by content, in byte order of paths (behaviours I-05). The diff file itself is not looked at (I-04). */
export function diffTrees(base: FileTree, current: FileTree): readonly WorkspaceChange[] {
  const changes: WorkspaceChange[] = [];
  for (const [path, after] of current) {
    const before = base.get(path);
    if (before === undefined) changes.push({ status: 'A', path, before: null, after });
    else if (!sameBytes(before, after)) changes.push({ status: 'M', path, before, after });
  }
  for (const [path, before] of base) {
    if (!current.has(path)) changes.push({ status: 'D', path, before, after: null });
  }
  return changes
    .filter((change) => change.path !== DIFF_PATH)
    .sort((left, right) => compareBytes(left.path, right.path));
}

/** The tree that `changes` lead to from `base`: `applyChanges(a, diffTrees(a, b))` equals `b`. */
export function applyChanges(base: FileTree, changes: readonly WorkspaceChange[]): FileTree {
  const tree = new Map(base);
  for (const change of changes) {
    if (change.after === null) tree.delete(change.path);
    else tree.set(change.path, change.after);
  }
  return tree;
}

/**
 * The text of `phase2_workspace_diff.md` (behaviours I-06..I-08): the status of every change, never cut, then the unified
 * diff, cut after 4,194,304 bytes at a character boundary.
 */
export function renderDiffFile(changes: readonly WorkspaceChange[]): string {
  return formatDiffFile(changes, renderUnifiedDiff(changes, LIMITS.workspaceDiffBytes));
}

/** The frame of the diff file around a diff text of any size. */
export function formatDiffFile(
  changes: readonly { readonly status: string; readonly path: string }[],
  diff: string,
): string {
  const head =
    '# Memory Workspace Diff\n\nRead this file first. It lists what changed since the last consolidation; do not edit it.\n\n## Status\n';
  if (changes.length === 0) return `${head}- none\n`;
  const status = changes.map((change) => `- ${change.status} ${change.path}\n`).join('');
  return `${head}${status}\n## Diff\n\n\`\`\`diff\n${boundDiff(diff, LIMITS.workspaceDiffBytes)}\`\`\`\n`;
}

/**
 * A git-style unified diff with 3 lines of context (behaviours I-06). Bytes that are not UTF-8 are shown lossily.
 * @param enoughBytes stops after the section that passes this size; default: never
 */
export function renderUnifiedDiff(changes: readonly WorkspaceChange[], enoughBytes = Number.POSITIVE_INFINITY): string {
  const sections: string[] = [];
  let bytes = 0;
  for (const change of changes) {
    const section = renderSection(change);
    sections.push(section);
    bytes += utf8Length(section);
    if (bytes > enoughBytes) break;
  }
  return sections.join('');
}

function renderSection(change: WorkspaceChange): string {
  const { path } = change;
  const lines = [`diff --git a/${path} b/${path}`];
  if (change.status === 'A') lines.push('new file mode 100644');
  if (change.status === 'D') lines.push('deleted file mode 100644');
  lines.push(`--- ${change.before === null ? '/dev/null' : `a/${path}`}`);
  lines.push(`+++ ${change.after === null ? '/dev/null' : `b/${path}`}`);
  const before = change.before === null ? '' : decodeUtf8(change.before);
  const after = change.after === null ? '' : decodeUtf8(change.after);
  return `${[...lines, ...renderHunks(before, after)].join('\n')}\n`;
}

/** With both sides non-empty every hunk has context, so no range is empty. */
function renderHunks(before: string, after: string): readonly string[] {
  if (before === '') return after === '' ? [] : [`@@ -0,0 +${wholeRange(after)} @@`, ...wholeLines('+', after)];
  if (after === '') return [`@@ -${wholeRange(before)} +0,0 @@`, ...wholeLines('-', before)];
  const patch = structuredPatch('', '', before, after, undefined, undefined, {
    context: CONTEXT_LINES,
    maxEditLength: MAX_EDITS,
  });
  if (patch === undefined) {
    const range = `@@ -${wholeRange(before)} +${wholeRange(after)} @@`;
    return [range, ...wholeLines('-', before), ...wholeLines('+', after)];
  }
  return patch.hunks.flatMap((hunk) => [
    `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`,
    ...hunk.lines,
  ]);
}

function wholeRange(text: string): string {
  const ends = text.split('\n').length - 1;
  return `1,${text.endsWith('\n') ? ends : ends + 1}`;
}

function wholeLines(mark: '+' | '-', text: string): string[] {
  const lines = text.split('\n').map((line) => `${mark}${line}`);
  if (text.endsWith('\n')) lines.pop();
  else lines.push('\\ No newline at end of file');
  return lines;
}

function boundDiff(diff: string, limitBytes: number): string {
  const bytes = encodeUtf8(diff);
  if (bytes.length <= limitBytes) return endLine(diff);
  const kept = endLine(decodeUtf8(bytes.subarray(0, charBoundaryBefore(bytes, limitBytes))));
  return `${kept}\n[workspace diff truncated at ${limitBytes} bytes]\n`;
}

function endLine(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left === right) return true;
  return left.length === right.length && left.every((byte, at) => byte === right[at]);
}
