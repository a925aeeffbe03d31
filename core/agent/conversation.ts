import type { ModelItem } from '../ports/model-client.ts';
import { estimateTokens } from '../text.ts';

const DROPPED = JSON.stringify({
  dropped: 'This result was dropped to save space. Call the tool again if it is still needed.',
});
const DROPPED_CONTENT = '[dropped from this conversation to save space; the file holds what was written]';
const LONG_WRITE = 2_000;
/** Down to this share of the limit, so that the prompt prefix stays the same, and cached, for many turns after a drop. */
const KEPT_SHARE = 0.5;

/** Estimated tokens of a conversation, 4 bytes each. */
export function estimateConversation(items: readonly ModelItem[]): number {
  return items.reduce((sum, item) => sum + estimateTokens(itemText(item)), 0);
}

/**
 * Keeps a conversation below `maxTokens`: where it has grown over it, the oldest tool results give way to a short note, and
 * where that is not enough the contents of old writes, all but those of the last `keepLast` items. Calls and their results
 * stay paired. The same conversation always gives the same answer.
 */
export function dropOldResults(items: readonly ModelItem[], maxTokens: number, keepLast: number): readonly ModelItem[] {
  const size = estimateConversation(items);
  if (size <= maxTokens) return items;
  const shortened = shortenItems(items, size, { target: maxTokens * KEPT_SHARE, keepLast, shorten: shortenResult });
  if (shortened.size <= maxTokens) return shortened.items;
  return shortenItems(shortened.items, shortened.size, {
    target: maxTokens * KEPT_SHARE,
    keepLast,
    shorten: shortenWrite,
  }).items;
}

interface Shortening {
  /** Tokens to come down to. */
  readonly target: number;
  readonly keepLast: number;
  readonly shorten: (item: ModelItem) => ModelItem;
}

function shortenItems(
  items: readonly ModelItem[],
  size: number,
  by: Shortening,
): { readonly items: readonly ModelItem[]; readonly size: number } {
  let left = size;
  const shortened = items.map((item, at) => {
    if (left <= by.target || at >= items.length - by.keepLast) return item;
    const short = by.shorten(item);
    left -= estimateTokens(itemText(item)) - estimateTokens(itemText(short));
    return short;
  });
  return { items: shortened, size: left };
}

function shortenResult(item: ModelItem): ModelItem {
  if (item.kind !== 'tool_result' || item.text.length <= DROPPED.length) return item;
  return { ...item, text: DROPPED };
}

/** What was written lies in the workspace: only the path is worth keeping. */
function shortenWrite(item: ModelItem): ModelItem {
  if (item.kind !== 'tool_call' || item.name !== 'write' || item.arguments.length <= LONG_WRITE) return item;
  const path = /"path"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(item.arguments)?.[1] ?? '""';
  return { ...item, arguments: `{"path":${path},"content":${JSON.stringify(DROPPED_CONTENT)}}` };
}

function itemText(item: ModelItem): string {
  switch (item.kind) {
    case 'message':
    case 'tool_result':
      return item.text;
    case 'tool_call':
      return item.name + item.arguments;
    case 'opaque':
      return item.json;
  }
}
