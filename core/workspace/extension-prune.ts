import { LIMITS } from '../settings.ts';
import { parseStemTime } from '../time.ts';
import type { FileTree } from './file-tree.ts';

/**
 * Removes old resources of extensions (behaviours K-03, K-04): of each folder in `extensions/` that has an
 * `instructions.md`, the `*.md` files directly in `resources/` whose name starts with a time of 7 days ago or earlier.
 * Notes are no resources and stay.
 * @param now ms
 * @returns the tree without them, and their paths in the order of the tree
 */
export function pruneExtensions(
  tree: FileTree,
  now: number,
): { readonly tree: FileTree; readonly removed: readonly string[] } {
  const removed = [...tree.keys()].filter((path) => isOldResource(tree, path, now - LIMITS.extensionRetentionMs));
  const gone = new Set(removed);
  return { tree: new Map([...tree].filter(([path]) => !gone.has(path))), removed };
}

function isOldResource(tree: FileTree, path: string, cutoff: number): boolean {
  const match = /^(extensions\/[^/]+\/)resources\/([^/]+\.md)$/.exec(path);
  if (!match || !tree.has(`${match[1]}instructions.md`)) return false;
  const time = parseStemTime(match[2] ?? '');
  return time !== undefined && time <= cutoff;
}
