import { decodeUtf8Strict, encodeUtf8 } from '../text.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import { markStale } from './stale-mark.ts';
import { findReferences, threadsByPath } from './thread-references.ts';

const SKILLS_FOLDER = 'skills/';
const PLACEHOLDER = '[forgotten session]';

/**
 * What becomes of the skills of a version: one that names forgotten threads alone goes as a whole; in one that names others too
 * the references to forgotten ones go, and the lines that held them are marked. A skill that names no thread is left as it is.
 * @returns new content by path, null = goes; only what changes
 */
export function forgetInSkills(tree: FileTree, forgotten: ReadonlySet<string>): ReadonlyMap<string, Uint8Array | null> {
  const folders = new Map<string, string[]>();
  for (const path of tree.keys()) {
    const folder = path.startsWith(SKILLS_FOLDER) ? path.split('/').slice(0, 2).join('/') : undefined;
    if (folder !== undefined) folders.set(folder, [...(folders.get(folder) ?? []), path]);
  }
  const changes = new Map<string, Uint8Array | null>();
  if (folders.size === 0) return changes;
  const byPath = threadsByPath(tree);
  for (const paths of folders.values()) {
    const texts = paths.map((path) => ({ path, text: decodeUtf8Strict(tree.get(path) ?? new Uint8Array()) ?? '' }));
    const named = new Set(texts.flatMap(({ text }) => findReferences(text, byPath).map(({ threadId }) => threadId)));
    const gone = [...named].filter((threadId) => forgotten.has(threadId)).length;
    if (gone === 0) continue;
    for (const { path, text } of texts) {
      const cut = gone === named.size ? null : cutReferences(text, byPath, forgotten);
      if (cut !== text) changes.set(path, cut === null ? null : encodeUtf8(cut));
    }
  }
  return changes;
}

function cutReferences(text: string, byPath: ReadonlyMap<string, string>, forgotten: ReadonlySet<string>): string {
  const lines = text.split('\n');
  const frontMatterEnd =
    lines[0]?.trimEnd() === '---' ? lines.findIndex((line, at) => at > 0 && line.trimEnd() === '---') : -1;
  let fenced = false;
  const cut = lines.flatMap((line, at): readonly string[] => {
    if (/^\s*(?:```|~~~)/.test(line)) fenced = !fenced;
    const all = findReferences(line, byPath);
    const gone = all.filter(({ threadId }) => forgotten.has(threadId));
    if (gone.length === 0) return [line];
    if (gone.length === all.length && isOnlyReference(line)) return [];
    const left = gone.reduceRight(
      (rest, { start, end }) => `${rest.slice(0, start)}${PLACEHOLDER}${rest.slice(end)}`,
      line,
    );
    return [at <= frontMatterEnd || fenced ? left : markStale(left)];
  });
  return cut.join('\n');
}

/** A list item that is the line of a source, or starts with one and says nothing else. */
function isOnlyReference(line: string): boolean {
  return /^\s*[-*+]\s+`?(?:rollout_summaries\/\S+\.md`?(?:\s+\(.*\))?|thread_id[=:]\s*\S+|[0-9a-f-]{36})`?\s*$/i.test(
    line,
  );
}
