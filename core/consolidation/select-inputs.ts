import type { StageOneHead } from '../extraction/stage-one-output.ts';
import { compareBytes } from '../text.ts';
import type { Thread } from '../thread/thread.ts';
import { DAY_MS } from '../time.ts';

export interface SelectionRules {
  /** ms since the epoch. */
  readonly now: number;
  /** How many to take: `max_raw_memories_for_consolidation`, or the prune batch. */
  readonly limit: number;
  /** Negative counts as 0. */
  readonly maxUnusedDays: number;
}

/** A stage-one output as listings show it, with what its thread tells. */
export interface ListedOutput {
  readonly head: StageOneHead;
  readonly thread: Thread;
}

/**
 * The input of a consolidation (behaviours 1.E with DV-4 and DV-8): outputs of enabled threads that were used, made or asked
 * for within the window, the most used first, then the most recent; the best `limit` of them by ascending thread id.
 * Asking for a thread opens the window for it and does not raise its rank. Former selection has no influence (E-07), nor
 * has the order of the heads. Blank outputs are never stored, so texts need not be read.
 * @param threads the catalogue entries of the heads; an output without one is left out
 */
export function selectInputs(
  heads: readonly StageOneHead[],
  threads: ReadonlyMap<string, Thread>,
  rules: SelectionRules,
): readonly StageOneHead[] {
  return rankHeads(heads)
    .filter((head) => isSelectable(head, threads, rules))
    .slice(0, Math.max(0, rules.limit))
    .sort((left, right) => compareBytes(left.threadId, right.threadId));
}

/** All heads, the best first: who takes them in this order needs the catalogue entries of the first ones only. */
export function rankHeads(heads: readonly StageOneHead[]): readonly StageOneHead[] {
  return heads.toSorted(compareRank);
}

/** Whether an output may be an input, whatever its rank. */
export function isSelectable(
  head: StageOneHead,
  threads: ReadonlyMap<string, Thread>,
  rules: Pick<SelectionRules, 'now' | 'maxUnusedDays'>,
): boolean {
  return isVisible(threads.get(head.threadId)) && lastWanted(head, threads) >= cutoffOf(rules);
}

/**
 * Outputs to prune (behaviours D-07, D-08 with DV-8): not selected and out of the window, the stalest first, at most
 * `limit`. What stands exactly at the cutoff is selectable and so stays. An unselected output of a forgotten thread goes
 * first whatever its age: it was written while the thread was being forgotten (DV-18).
 */
export function selectPrunable(
  heads: readonly StageOneHead[],
  threads: ReadonlyMap<string, Thread>,
  rules: SelectionRules,
): readonly StageOneHead[] {
  const cutoff = cutoffOf(rules);
  return heads
    .filter((head) => head.selectedSnapshot === null)
    .map((head) => ({ head, staleness: isForgotten(head, threads) ? -1 : lastWanted(head, threads) }))
    .filter((item) => item.staleness < cutoff)
    .sort(
      (left, right) =>
        left.staleness - right.staleness ||
        left.head.sourceUpdatedAt - right.head.sourceUpdatedAt ||
        compareBytes(left.head.threadId, right.head.threadId),
    )
    .slice(0, Math.max(0, rules.limit))
    .map((item) => item.head);
}

/** The plain listing of visible outputs, the newest source first, at most `limit` (behaviours E-09). */
export function listOutputs(
  heads: readonly StageOneHead[],
  threads: ReadonlyMap<string, Thread>,
  limit: number,
): readonly ListedOutput[] {
  return heads
    .flatMap((head) => {
      const thread = threads.get(head.threadId);
      return thread !== undefined && isVisible(thread) ? [{ head, thread }] : [];
    })
    .sort(
      (left, right) =>
        right.head.sourceUpdatedAt - left.head.sourceUpdatedAt || compareBytes(right.head.threadId, left.head.threadId),
    )
    .slice(0, Math.max(0, limit));
}

function cutoffOf(rules: Pick<SelectionRules, 'now' | 'maxUnusedDays'>): number {
  return rules.now - Math.max(0, rules.maxUnusedDays) * DAY_MS;
}

function isVisible(thread: Thread | undefined): boolean {
  return thread !== undefined && thread.memoryMode === 'enabled' && thread.forgottenAt === null;
}

function isForgotten(head: StageOneHead, threads: ReadonlyMap<string, Thread>): boolean {
  return (threads.get(head.threadId)?.forgottenAt ?? null) !== null;
}

/** Recency for the rank (DV-8): a fresh extraction counts even where the last use is old. */
function recency(head: StageOneHead): number {
  return Math.max(head.lastUsage ?? 0, head.sourceUpdatedAt);
}

/** Recency for the window: also the moment at which a person asked for the thread. */
function lastWanted(head: StageOneHead, threads: ReadonlyMap<string, Thread>): number {
  return Math.max(recency(head), threads.get(head.threadId)?.requestedAt ?? 0);
}

/** Behaviours E-02: count, recency, source time, thread id, all descending. */
function compareRank(left: StageOneHead, right: StageOneHead): number {
  return (
    (right.usageCount ?? 0) - (left.usageCount ?? 0) ||
    recency(right) - recency(left) ||
    right.sourceUpdatedAt - left.sourceUpdatedAt ||
    compareBytes(right.threadId, left.threadId)
  );
}
