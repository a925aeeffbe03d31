import { compareBytes } from '../text.ts';
import { NO_RAW_MEMORIES } from '../workspace/input-files.ts';

const START = /^## Thread `([^`\n]+)`\nupdated_at: .*\ncwd: .*\nrollout_path: .*\nrollout_summary_file: .*\n/gm;

/** The head of a part of raw_memories.md (behaviours H-01). */
interface PartStart {
  readonly threadId: string;
  readonly start: number;
  /** From 1. */
  readonly line: number;
}

/** Where the parts of raw_memories.md start, in their order. A raw memory may quote the head of another part. */
export function findRawMemories(text: string): readonly PartStart[] {
  let line = 1;
  let counted = 0;
  return [...text.matchAll(START)].map((match) => {
    for (; counted < match.index; counted++) if (text[counted] === '\n') line++;
    return { threadId: match[1] ?? '', start: match.index, line };
  });
}

/**
 * raw_memories.md without the parts of the given threads: the bytes that it would have had without them. Parts stand in the
 * order of their ids, so a part ends before the last head of the next higher id: what a memory quotes goes with it. Where that
 * is too much, the next consolidation writes it anew.
 */
export function cutRawMemories(text: string, threads: ReadonlySet<string>): string {
  const starts = findRawMemories(text);
  if (!starts.some(({ threadId }) => threads.has(threadId))) return text;
  const lasts = new Map(starts.map(({ threadId, start }) => [threadId, start]));
  let out = '';
  let from = 0;
  for (const { threadId, start } of starts) {
    if (!threads.has(threadId) || start < from) continue;
    out += text.slice(from, start);
    const next = starts.find((other) => other.start > start && compareBytes(other.threadId, threadId) > 0);
    from = (next && lasts.get(next.threadId)) ?? text.length;
  }
  out += text.slice(from);
  return findRawMemories(out).length === 0 ? NO_RAW_MEMORIES : out;
}
