import type { ThreadStore } from '../ports/thread-store.ts';
import { toFileTime } from '../time.ts';
import { findTarget, type MemoryFiles } from './memory-files.ts';
import { type BlockKind, indexProvenance } from './provenance.ts';
import { threadsByPath } from './thread-references.ts';

/** A session that a part of the memory rests on, as the wire shows it. */
export interface Source {
  readonly thread_id: string;
  /** Null where this version holds none. */
  readonly rollout_summary: string | null;
  /** Null where the catalogue does not know the thread, which came with an import. */
  readonly project: string | null;
  readonly updated_at: string | null;
}

export interface ExplainedBlock {
  readonly path: string;
  readonly line: number;
  readonly kind: BlockKind;
  readonly title: string;
  readonly sources: readonly Source[];
}

/** Why a memory says what it says: for each of its parts the sessions that it rests on. */
export interface Explanation {
  readonly path: string;
  readonly blocks: readonly ExplainedBlock[];
}

/**
 * Tells what the parts of a file, or of all files of a folder, rest on.
 * @param written a path as a caller wrote it; `''` is everything
 * @throws as `findTarget`: InvalidInputError `path.invalid`, NotFoundError `path.not_found`
 */
export async function explainMemory(
  threads: Pick<ThreadStore, 'getMany'>,
  userKey: string,
  files: MemoryFiles,
  written: string,
): Promise<Explanation> {
  const target = findTarget(files, written);
  const isWanted = (path: string): boolean =>
    path === target.path || (target.kind === 'folder' && (target.path === '' || path.startsWith(`${target.path}/`)));
  const tree = new Map<string, Uint8Array>();
  for (const path of files.paths) tree.set(path, await files.read(path));
  const blocks = indexProvenance(tree).blocks.filter((block) => isWanted(block.path));
  const ids = [...new Set(blocks.flatMap((block) => block.threads))];
  const known = ids.length === 0 ? new Map() : await threads.getMany(userKey, ids);
  const summaries = new Map(
    [...threadsByPath(tree)].flatMap(([path, id]) => (tree.has(path) ? [[id, path] as const] : [])),
  );
  const sourceOf = (threadId: string): Source => {
    const thread = known.get(threadId);
    return {
      thread_id: threadId,
      rollout_summary: summaries.get(threadId) ?? null,
      project: thread?.project ?? null,
      updated_at: thread === undefined ? null : toFileTime(thread.updatedAt),
    };
  };
  return {
    path: written,
    blocks: blocks.map(({ threads: ids, ...block }) => ({ ...block, sources: ids.map(sourceOf) })),
  };
}
