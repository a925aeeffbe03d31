import { parseSummary, type SummaryBlock } from '../memory/summary-document.ts';
import { compareBytes, decodeUtf8Strict, encodeUtf8 } from '../text.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import { type MemoryDocument, type MemoryTask, parseMemoryDocument } from './memory-document.ts';
import { isOutput, MEMORY_PATH, SUMMARY_PATH } from './output-paths.ts';
import { renderMemoryDocument } from './render-memory.ts';
import { readSourceHead } from './source-head.ts';
import type { SourceLine } from './source-line.ts';
import { findSummaryFaults } from './summary-grammar.ts';

const BYTE_ORDER_MARK = '\ufeff';

/**
 * Brings the outputs into the one form of their meaning, so that a meaning that did not change is a byte that did not: line ends,
 * blank lines, the order of sources and references, values that the heads of rollout summaries give. What stands in an order that
 * says something, by use or by time, keeps it. Idempotent; a file that breaks its grammar stays as it is.
 */
export function normaliseArtifacts(tree: FileTree): FileTree {
  return new Map(
    [...tree].map(([path, content]) => {
      const text = isOutput(path) ? decodeUtf8Strict(content) : undefined;
      if (text === undefined) return [path, content] as const;
      const normal = normaliseOutput(path, text, tree);
      return [path, normal === text ? content : encodeUtf8(normal)] as const;
    }),
  );
}

function normaliseOutput(path: string, text: string, tree: FileTree): string {
  const unix = (text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text).replaceAll('\r\n', '\n');
  if (path === MEMORY_PATH) return normaliseMemory(unix, tree);
  if (path === SUMMARY_PATH) return normaliseSummary(unix);
  return `${unix.trimEnd()}\n`;
}

function normaliseMemory(text: string, tree: FileTree): string {
  const { document, faults } = parseMemoryDocument(text);
  return faults.length > 0 ? text : renderMemoryDocument(completeSources(document, tree));
}

/** A thread's time and path are what the head of its summary says, however they were copied. */
function completeSources(document: MemoryDocument, tree: FileTree): MemoryDocument {
  const complete = (source: SourceLine): SourceLine => {
    const head = readSourceHead(tree.get(source.path));
    if (head?.threadId !== source.threadId) return source;
    return {
      ...source,
      rolloutPath: head.rolloutPath ?? source.rolloutPath,
      updatedAt: head.updatedAt ?? source.updatedAt,
    };
  };
  const ofTask = (task: MemoryTask): MemoryTask => {
    const sources = new Map(task.sources.map((source) => [`${source.path} ${source.threadId}`, complete(source)]));
    return { ...task, sources: [...sources.values()].sort((left, right) => compareBytes(left.path, right.path)) };
  };
  return { groups: document.groups.map((group) => ({ ...group, tasks: group.tasks.map(ofTask) })) };
}

function normaliseSummary(text: string): string {
  const parsed = parseSummary(text);
  if (findSummaryFaults(parsed).length > 0) return text;
  const blocks = parsed.document.blocks.map((block) => ({ block, lines: trimBlock(block.lines) }));
  let out = '';
  for (const [at, { block, lines }] of blocks.entries()) {
    const next = blocks[at + 1];
    const apart = next === undefined ? false : isApart(block, lines, next);
    out += `${lines.join('\n')}\n${apart ? '\n' : ''}`;
  }
  return out;
}

interface TrimmedBlock {
  readonly block: SummaryBlock;
  readonly lines: readonly string[];
}

/** Headings and bullets of several lines stand alone, bullets of one line stand together, paragraphs as they were written. */
function isApart(block: SummaryBlock, lines: readonly string[], next: TrimmedBlock): boolean {
  const isHeading = (one: SummaryBlock): boolean => one.kind === 'heading' || one.kind === 'version';
  if (isHeading(block) || isHeading(next.block)) return true;
  const isBullet = (line: string | undefined): boolean => /^[-*+] /.test(line ?? '');
  const bullets = isBullet(lines[0]) && isBullet(next.lines[0]);
  return bullets ? lines.length > 1 || next.lines.length > 1 : block.lines.at(-1)?.trim() === '';
}

/** Without white space at line ends, and without blank lines but in code blocks. */
function trimBlock(lines: readonly string[]): readonly string[] {
  let fenced = false;
  return lines.flatMap((line) => {
    if (/^\s*(?:```|~~~)/.test(line)) fenced = !fenced;
    const trimmed = line.trimEnd();
    return trimmed === '' && !fenced ? [] : [trimmed];
  });
}
