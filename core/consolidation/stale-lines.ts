import { markedLines, STALE_MARK } from '../memory/stale-mark.ts';
import { decodeUtf8, utf8Length } from '../text.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import type { ArtifactFault } from './artifact-fault.ts';
import { isOutput } from './output-paths.ts';

/** Where outputs still say what rested in part on a forgotten thread, as `<path>:<line>`: what the next run has to say anew. */
export function listStale(tree: FileTree): readonly string[] {
  return [...tree].flatMap(([path, content]) =>
    isOutput(path) ? markedLines(decodeUtf8(content)).map((line) => `${path}:${line}`) : [],
  );
}

/** A run may not leave a marked line: it would stay for good. */
export function findStale(tree: FileTree): readonly ArtifactFault[] {
  return listStale(tree).map((place) => ({
    code: 'memory.stale',
    place,
    message: 'the line is marked as resting in part on a forgotten session',
    cure: `write what the sources that are left bear out, without the mark \`${STALE_MARK}\`, or remove the line`,
  }));
}

/** UTF-8 bytes of a file without its marked lines: nothing guards these. */
export function unmarkedBytes(content: Uint8Array | undefined): number {
  if (content === undefined) return 0;
  const text = decodeUtf8(content);
  const marked = markedLines(text);
  if (marked.length === 0) return content.length;
  const lines = text.split('\n');
  return marked.reduce((bytes, line) => bytes - utf8Length(lines[line - 1] ?? '') - 1, content.length);
}
