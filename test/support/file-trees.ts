import { encodeUtf8 } from '../../core/text.ts';
import type { FileTree } from '../../core/workspace/file-tree.ts';

/** A tree from texts by path. */
export function treeOf(files: Readonly<Record<string, string | Uint8Array>>): FileTree {
  return new Map(
    Object.entries(files).map(([path, content]) => [path, typeof content === 'string' ? encodeUtf8(content) : content]),
  );
}
