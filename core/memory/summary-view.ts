import { compareBytes, utf8Length } from '../text.ts';
import { GLOBAL_SCOPE, type SummaryBlock, type SummaryDocument, TOPICS_SECTION } from './summary-document.ts';

const BYTES_PER_TOKEN = 4;

/** What a reader is shown of a summary. */
export interface SummaryView {
  readonly text: string;
  readonly truncated: boolean;
  /** Tokens of the scope's text that were left out, rounded up; 0 when nothing was. */
  readonly omittedTokens: number;
}

/** `all`: everything; else the global parts and those of one project, or of none (null). */
export type SummaryScope = 'all' | { readonly project: string | null };

/**
 * The part of a summary that fits a scope and a budget (api.md, "Reading"; DV-7). It is cut by section at line ends: topics
 * go first, older ones before dated ones and old days before new ones, then tips and profile; the topics of the newest day
 * and then the user's preferences go last. The notice about what was left out counts towards the budget. Equal arguments
 * give equal bytes.
 * @param budget.maxTokens 1 token = 4 bytes
 * @param budget.file the file that holds the rest, named in the notice
 */
export function viewSummary(
  document: SummaryDocument,
  scope: SummaryScope,
  budget: { readonly maxTokens: number; readonly file: string },
): SummaryView {
  const blocks = keepBlocks(document.blocks, (block) => isInScope(block, scope), true);
  const whole = renderBlocks(blocks);
  const maxBytes = budget.maxTokens * BYTES_PER_TOKEN;
  if (utf8Length(whole) <= maxBytes) return { text: whole, truncated: false, omittedTokens: 0 };

  const order = dropOrder(blocks);
  const cut = (count: number): SummaryView => {
    const dropped = new Set(order.slice(0, count));
    const kept = renderBlocks(keepBlocks(blocks, (block) => !dropped.has(block), false));
    const omittedTokens = Math.ceil((utf8Length(whole) - utf8Length(kept)) / BYTES_PER_TOKEN);
    const notice = `[${omittedTokens} tokens left out; the rest is in ${budget.file}]`;
    return { text: kept === '' ? notice : `${kept}\n\n${notice}`, truncated: true, omittedTokens };
  };
  // The fewest dropped blocks that fit. Sizes fall with the count, but for a digit of the notice, which costs one block at most.
  let low = 1;
  let high = order.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (utf8Length(cut(middle).text) <= maxBytes) high = middle;
    else low = middle + 1;
  }
  const view = cut(low);
  // Not even the notice fits: nothing is shown, and `truncated` says so.
  return utf8Length(view.text) <= maxBytes ? view : { ...view, text: '' };
}

/** Topics of another project, and older ones that do not say whose they are, are in no scope but `all` (user case A9). */
function isInScope(block: SummaryBlock, scope: SummaryScope): boolean {
  if (scope === 'all') return true;
  if (block.kind === 'heading' && block.older) return true;
  if (block.project === null) return !block.older;
  return block.project === GLOBAL_SCOPE || block.project === scope.project;
}

/**
 * Keeps the wanted blocks, and of the wanted headings those that still have something below them.
 * @param keepBare keeps a heading that never had anything below it
 */
function keepBlocks(
  blocks: readonly SummaryBlock[],
  isWanted: (block: SummaryBlock) => boolean,
  keepBare: boolean,
): SummaryBlock[] {
  const kept: SummaryBlock[] = [];
  // By heading level, read from the end: whether there was content since the last heading of that level or above.
  const had = new Set<number>();
  const has = new Set<number>();
  for (const block of blocks.toReversed()) {
    const wanted = isWanted(block);
    if (block.kind !== 'heading') {
      for (const level of [2, 3, 4]) {
        had.add(level);
        if (wanted) has.add(level);
      }
      if (wanted) kept.push(block);
      continue;
    }
    if (wanted && (has.has(block.level) || (keepBare && !had.has(block.level)))) kept.push(block);
    for (let level = block.level; level <= 4; level++) {
      had.delete(level);
      has.delete(level);
    }
  }
  return kept.reverse();
}

/** Blocks with content, in the order in which they go. */
function dropOrder(blocks: readonly SummaryBlock[]): readonly SummaryBlock[] {
  const content = blocks.filter((block) => block.kind !== 'heading');
  const days = content.flatMap((block) => (block.day === null ? [] : [block.day]));
  const newest = days.toSorted(compareBytes).at(-1) ?? null;
  return content.toSorted((left, right) => {
    const byRank = rankOf(left, newest) - rankOf(right, newest);
    if (byRank !== 0) return byRank;
    const byDay = compareBytes(left.day ?? '', right.day ?? '');
    return byDay !== 0 ? byDay : right.line - left.line; // within a part, from its end
  });
}

function rankOf(block: SummaryBlock, newest: string | null): number {
  if (block.older) return 0;
  if (block.section === TOPICS_SECTION) return block.day !== null && block.day === newest ? 4 : 1;
  if (block.kind === 'version') return 6;
  if (block.section === 'User preferences') return 5;
  return block.section === 'User Profile' ? 3 : 2;
}

function renderBlocks(blocks: readonly SummaryBlock[]): string {
  return blocks
    .flatMap((block) => block.lines)
    .join('\n')
    .trim();
}
