import { decodeUtf8, encodeUtf8 } from '../text.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import { RAW_MEMORIES_PATH, ROLLOUT_SUMMARIES_FOLDER } from '../workspace/input-files.ts';
import { type ForgottenMemory, forgetInMemory } from './forget-in-memory.ts';
import { forgetInSkills } from './forget-in-skills.ts';
import { forgetInSummary } from './forget-in-summary.ts';
import { cutRawMemories } from './raw-memories.ts';
import { headThread } from './thread-references.ts';

const MEMORY_PATH = 'MEMORY.md';
const SUMMARY_PATH = 'memory_summary.md';
const RESOURCE = /^extensions\/[^/]+\/resources\//;

/**
 * The files of a version without what rests on forgotten threads alone; what rests on others too stays and is marked
 * (`STALE_MARK`). Pure and byte-stable; doing it again changes nothing, and so does a thread that nothing rests on.
 *
 * A part of a version may be given instead of the whole, as long as MEMORY.md is with it: it tells what memory_summary.md
 * and skills rest on; a file of a skill comes with its whole folder. Rollout summaries, raw_memories.md and resources of extensions stand for themselves.
 */
export function withoutForgotten(tree: FileTree, forgotten: ReadonlySet<string>): FileTree {
  if (forgotten.size === 0) return tree;
  const changes = new Map<string, Uint8Array | null>(forgetInSkills(tree, forgotten));
  const setText = (path: string, before: string, after: string): void => {
    if (before !== after) changes.set(path, encodeUtf8(after));
  };
  const memory = forgetText(tree, MEMORY_PATH, forgotten);
  if (memory !== undefined) setText(MEMORY_PATH, memory.before, memory.after.text);
  const summaryText = decodeIn(tree, SUMMARY_PATH);
  const summary =
    memory === undefined || summaryText === undefined ? undefined : forgetInSummary(summaryText, memory.after);
  if (summary !== undefined) setText(SUMMARY_PATH, summaryText ?? '', summary);
  const raw = decodeIn(tree, RAW_MEMORIES_PATH);
  if (raw !== undefined) setText(RAW_MEMORIES_PATH, raw, cutRawMemories(raw, forgotten));
  for (const [path, content] of tree) {
    if (path.startsWith(ROLLOUT_SUMMARIES_FOLDER) || RESOURCE.test(path)) {
      const threadId = headThread(content);
      if (threadId !== undefined && forgotten.has(threadId)) changes.set(path, null);
    }
  }
  return changes.size === 0 ? tree : applyTo(tree, changes);
}

function applyTo(tree: FileTree, changes: ReadonlyMap<string, Uint8Array | null>): FileTree {
  return new Map(
    [...tree].flatMap(([path, content]) => {
      const change = changes.get(path);
      return change === null ? [] : [[path, change ?? content] as const];
    }),
  );
}

function decodeIn(tree: FileTree, path: string): string | undefined {
  const content = tree.get(path);
  return content === undefined ? undefined : decodeUtf8(content);
}

function forgetText(
  tree: FileTree,
  path: string,
  forgotten: ReadonlySet<string>,
): { readonly before: string; readonly after: ForgottenMemory } | undefined {
  const before = decodeIn(tree, path);
  return before === undefined ? undefined : { before, after: forgetInMemory(before, forgotten) };
}
