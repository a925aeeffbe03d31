import type { ModelItem } from '../ports/model-client.ts';
import { estimateTokens } from '../text.ts';

const DROPPED = JSON.stringify({
  dropped: 'This result was dropped to save space. Call the tool again if it is still needed.',
});
/** Down to this share of the limit, so that the prompt prefix stays the same, and cached, for many turns after a drop. */
const KEPT_SHARE = 0.5;

/** Estimated tokens of a conversation, 4 bytes each. */
export function estimateConversation(items: readonly ModelItem[]): number {
  return items.reduce((sum, item) => sum + estimateTokens(itemText(item)), 0);
}

/**
 * Keeps a conversation below `maxTokens`: where it has grown over it, the oldest tool results give way to a short note, all
 * but the last `keepLast` items. Calls and their results stay paired. The same conversation always gives the same answer.
 */
export function dropOldResults(items: readonly ModelItem[], maxTokens: number, keepLast: number): readonly ModelItem[] {
  let size = estimateConversation(items);
  if (size <= maxTokens) return items;
  const target = maxTokens * KEPT_SHARE;
  return items.map((item, at) => {
    if (size <= target || at >= items.length - keepLast) return item;
    if (item.kind !== 'tool_result' || item.text.length <= DROPPED.length) return item;
    size -= estimateTokens(item.text) - estimateTokens(DROPPED);
    return { ...item, text: DROPPED };
  });
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
