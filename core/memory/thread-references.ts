import { parseMemoryDocument } from '../consolidation/memory-document.ts';
import { isUuid } from '../ids.ts';
import { decodeUtf8 } from '../text.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import { ROLLOUT_SUMMARIES_FOLDER } from '../workspace/input-files.ts';

const MEMORY_PATH = 'MEMORY.md';
const PATH = /rollout_summaries\/[^/\s()[\]`'",;]+?\.md/g;
const NAMED = /\bthread_id[=:]\s*([A-Za-z0-9._-]{1,128})/g;
const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;

/** A place in a text that names a thread. */
export interface ThreadReference {
  readonly threadId: string;
  readonly start: number;
  readonly end: number;
}

/** The thread that a rollout summary or an extension's resource says at its head to come from. */
export function headThread(content: Uint8Array): string | undefined {
  const start = decodeUtf8(content.subarray(0, 256));
  return /^thread_id: ([^\r\n]+)\r?(?:\n|$)/.exec(start)?.[1]?.trim();
}

/** Threads by the paths of their rollout summaries: as these say themselves, else as MEMORY.md cites them. */
export function threadsByPath(tree: FileTree): ReadonlyMap<string, string> {
  const threads = new Map<string, string>();
  const memory = tree.get(MEMORY_PATH);
  const groups = memory === undefined ? [] : parseMemoryDocument(decodeUtf8(memory)).document.groups;
  for (const task of groups.flatMap((group) => group.tasks))
    for (const source of task.sources) threads.set(source.path, source.threadId);
  for (const [path, content] of tree) {
    const threadId = path.startsWith(ROLLOUT_SUMMARIES_FOLDER) ? headThread(content) : undefined;
    if (threadId !== undefined) threads.set(path, threadId);
  }
  return threads;
}

/** Where a text names threads: by the path of a rollout summary, as `thread_id=…`, or by an id that can be nothing else. */
export function findReferences(text: string, byPath: ReadonlyMap<string, string>): readonly ThreadReference[] {
  const found: ThreadReference[] = [];
  const add = (match: RegExpMatchArray, threadId: string | undefined): void => {
    const start = match.index ?? 0;
    const end = start + match[0].length;
    if (threadId !== undefined && !found.some((other) => start < other.end && other.start < end))
      found.push({ threadId, start, end });
  };
  for (const match of text.matchAll(PATH)) add(match, byPath.get(match[0]));
  for (const match of text.matchAll(NAMED)) add(match, match[1]);
  for (const match of text.matchAll(UUID)) if (isUuid(match[0])) add(match, match[0].toLowerCase());
  return found.sort((left, right) => left.start - right.start);
}
