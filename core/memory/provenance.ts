import type { ProvenanceIndex } from '../consolidation/manifest.ts';
import { type MemoryDocument, parseMemoryDocument, type TaskGroup } from '../consolidation/memory-document.ts';
import { isOutput } from '../consolidation/output-paths.ts';
import { compareBytes, decodeUtf8 } from '../text.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import { RAW_MEMORIES_PATH, ROLLOUT_SUMMARIES_FOLDER } from '../workspace/input-files.ts';
import { findRawMemories } from './raw-memories.ts';
import { unmark } from './stale-mark.ts';
import { parseSummary } from './summary-document.ts';
import { findReferences, headThread, threadsByPath } from './thread-references.ts';
import { namedGroups, namedTasks } from './topic-sources.ts';

const MEMORY_PATH = 'MEMORY.md';
const SUMMARY_PATH = 'memory_summary.md';

export type BlockKind = 'group' | 'task' | 'bullet' | 'topic' | 'skill' | 'rollout_summary' | 'raw_memory';

/** A part of a memory that stands or falls with what it rests on. */
export interface ProvenanceBlock {
  readonly path: string;
  /** Where it starts, from 1. */
  readonly line: number;
  readonly kind: BlockKind;
  /** Its first line or name, without references. */
  readonly title: string;
  /** Ids of the threads that it rests on, ascending, each once; none: it comes from a note, or does not say. */
  readonly threads: readonly string[];
}

/** What rests on what in one version: from the block to its threads, and back. */
export interface Provenance {
  /** In byte order of paths, then by line, then from the larger to the smaller. */
  readonly blocks: readonly ProvenanceBlock[];
  /** Blocks by thread id, ids ascending. */
  readonly byThread: ReadonlyMap<string, readonly ProvenanceBlock[]>;
}

/**
 * Reads from the files of a version what each part of it rests on, by the parser that the gates use. Pure: the same files give the
 * same index, whatever order they come in.
 */
export function indexProvenance(tree: FileTree): Provenance {
  const memory = tree.get(MEMORY_PATH);
  const document = memory === undefined ? { groups: [] } : parseMemoryDocument(decodeUtf8(memory)).document;
  const byPath = threadsByPath(tree);
  const paths = [...tree.keys()].sort(compareBytes);
  const blocks = paths.flatMap((path) => blocksOf(path, tree.get(path) ?? new Uint8Array(), { document, byPath }));
  const ids = [...new Set(blocks.flatMap((block) => block.threads))].sort(compareBytes);
  const byThread = new Map(ids.map((id) => [id, blocks.filter((block) => block.threads.includes(id))]));
  return { blocks, byThread };
}

/** The index as a manifest holds it: outputs alone, since all else tells by itself. The same files give the same bytes. */
export function packProvenance(tree: FileTree): ProvenanceIndex {
  const resting = indexProvenance(tree).blocks.filter((block) => isOutput(block.path) && block.threads.length > 0);
  const threads = [...new Set(resting.flatMap((block) => block.threads))].sort(compareBytes);
  const places = new Map(threads.map((threadId, at) => [threadId, at]));
  const blocks: Record<string, number[][]> = {};
  for (const { path, line, threads: own } of resting) {
    const row = [line, ...own.flatMap((threadId) => places.get(threadId) ?? [])];
    blocks[path] = [...(blocks[path] ?? []), row];
  }
  return { threads, blocks };
}

/** True for a file that decides what outputs rest on. */
export function bearsProvenance(path: string): boolean {
  return isOutput(path) || path.startsWith(ROLLOUT_SUMMARIES_FOLDER);
}

interface Known {
  readonly document: MemoryDocument;
  readonly byPath: ReadonlyMap<string, string>;
}

function blocksOf(path: string, content: Uint8Array, known: Known): readonly ProvenanceBlock[] {
  if (path === MEMORY_PATH) return known.document.groups.flatMap(groupBlocks);
  if (path === SUMMARY_PATH) return topicBlocks(decodeUtf8(content), known.document);
  if (path === RAW_MEMORIES_PATH)
    return findRawMemories(decodeUtf8(content)).map(({ threadId, line }) =>
      blockOf(path, line, 'raw_memory', { title: threadId, threads: [threadId] }),
    );
  if (path.startsWith(ROLLOUT_SUMMARIES_FOLDER)) {
    const threadId = headThread(content);
    return threadId === undefined ? [] : [blockOf(path, 1, 'rollout_summary', { title: path, threads: [threadId] })];
  }
  if (!path.startsWith('skills/')) return [];
  const threads = findReferences(decodeUtf8(content), known.byPath).map(({ threadId }) => threadId);
  return [blockOf(path, 1, 'skill', { title: path, threads })];
}

function groupBlocks(group: TaskGroup): readonly ProvenanceBlock[] {
  const threadsOf = (numbers: readonly number[]): readonly string[] =>
    group.tasks
      .filter((task) => numbers.includes(task.number))
      .flatMap((task) => task.sources.map((source) => source.threadId));
  const all = group.tasks.map((task) => task.number);
  const tasks = group.tasks.map(({ line, title, number }) =>
    blockOf(MEMORY_PATH, line, 'task', { title, threads: threadsOf([number]) }),
  );
  const bullets = Object.values(group.bullets)
    .flat()
    .map((bullet) =>
      blockOf(MEMORY_PATH, bullet.line, 'bullet', { title: bullet.text, threads: threadsOf(bullet.tasks) }),
    );
  const head = blockOf(MEMORY_PATH, group.line, 'group', { title: group.name, threads: threadsOf(all) });
  return [head, ...[...tasks, ...bullets].sort((left, right) => left.line - right.line)];
}

function topicBlocks(text: string, { groups }: MemoryDocument): readonly ProvenanceBlock[] {
  const { blocks, topics } = parseSummary(text).document;
  const descriptions = new Map(topics.map((topic) => [topic.line, topic]));
  return blocks.flatMap((block) => {
    const topic = descriptions.get(block.line);
    if (topic === undefined) return [];
    const named = namedGroups(block, topic.desc ?? '', groups);
    const only = named.length === 1 ? namedTasks(block, topic.desc ?? '', named[0]?.tasks ?? []) : [];
    const tasks = only.length > 0 ? only : named.flatMap((group) => group.tasks);
    const threads = tasks.flatMap((task) => task.sources.map((source) => source.threadId));
    return [blockOf(SUMMARY_PATH, block.line, 'topic', { title: topic.title, threads })];
  });
}

function blockOf(
  path: string,
  line: number,
  kind: BlockKind,
  of: { readonly title: string; readonly threads: readonly string[] },
): ProvenanceBlock {
  const title = unmark(of.title.split('\n')[0] ?? '');
  return { path, line, kind, title, threads: [...new Set(of.threads)].sort(compareBytes) };
}
