import { parseMemoryDocument } from '../consolidation/memory-document.ts';
import { isThreadId } from '../ids.ts';
import type { ThreadStore } from '../ports/thread-store.ts';
import { compareBytes, decodeUtf8 } from '../text.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import { RAW_MEMORIES_PATH } from '../workspace/input-files.ts';
import { findRawMemories } from './raw-memories.ts';
import { findReferences, headThread, threadsByPath } from './thread-references.ts';

const MEMORY_PATH = 'MEMORY.md';

/** Ids of all threads that the files of a version say they rest on, ascending, each once. */
export function namedThreads(tree: FileTree): readonly string[] {
  const byPath = threadsByPath(tree);
  const named = new Set(byPath.values());
  for (const [path, content] of tree) {
    if (path === MEMORY_PATH) for (const threadId of citedThreads(decodeUtf8(content))) named.add(threadId);
    if (path === RAW_MEMORIES_PATH)
      for (const { threadId } of findRawMemories(decodeUtf8(content))) named.add(threadId);
    if (path.startsWith('skills/'))
      for (const { threadId } of findReferences(decodeUtf8(content), byPath)) named.add(threadId);
    const head = path.startsWith('extensions/') ? headThread(content) : undefined;
    if (head !== undefined) named.add(head);
  }
  return [...named].filter(isThreadId).sort(compareBytes);
}

/** Threads that the tasks of a MEMORY.md cite, in the order in which they stand, each once. */
export function citedThreads(memory: string): readonly string[] {
  const { groups } = parseMemoryDocument(memory).document;
  const sources = groups.flatMap((group) => group.tasks.flatMap((task) => task.sources));
  return [...new Set(sources.map((source) => source.threadId))];
}

/**
 * Which of the threads that a version rests on were forgotten since (DV-18): what `withoutForgotten` is to take out of it.
 * A thread that the catalogue does not know counts as there: it may have come with an import.
 * @param more ids to look at besides those that the files name, such as a manifest's inputs
 */
export async function findForgotten(
  threads: Pick<ThreadStore, 'getMany'>,
  userKey: string,
  tree: FileTree,
  more: Iterable<string> = [],
): Promise<ReadonlySet<string>> {
  const ids = [...new Set([...namedThreads(tree), ...more])];
  if (ids.length === 0) return new Set();
  const known = await threads.getMany(userKey, ids);
  return new Set(ids.filter((threadId) => (known.get(threadId)?.forgottenAt ?? null) !== null));
}
