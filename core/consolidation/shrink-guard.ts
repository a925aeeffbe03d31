import { LIMITS } from '../settings.ts';

/** Points on top of the share of removed inputs (DV-19). */
const SLACK_POINTS = 20;
const BYTES_PER_TOKEN = 4;

/** Faults of results that lose too much: an alarm (DV-19). */
export const SHRINK_CODES: ReadonlySet<string> = new Set(['memory.shrunk', 'summary.shrunk', 'skill.shrunk']);

/** What inputs and notes of a run may take with them. */
export interface RunChange {
  /** Threads that the base rested on, and how many of them are gone from the selection. */
  readonly inputsBefore: number;
  readonly inputsRemoved: number;
  /** Notes that no run has taken in yet: a person may have asked to forget something. */
  readonly newNotes: number;
}

export interface ShrinkCase {
  /** UTF-8 bytes of MEMORY.md in the version that the run started from, and in its result. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** Threads that the base rested on, and how many of them are gone from the selection. */
  readonly inputsBefore: number;
  readonly inputsRemoved: number;
  /** Threads cited in the base's MEMORY.md that are still selected, and how many of them the result no longer cites. */
  readonly citedBefore: number;
  readonly citationsLost: number;
}

export type ShrinkVerdict =
  | { readonly kind: 'allowed' }
  | {
      readonly kind: 'refused';
      readonly measure: 'size' | 'citations';
      readonly lostPercent: number;
      readonly allowedPercent: number;
    };

/**
 * Guards a memory against the agent that keeps it (DV-19, user case A25). A result may lose 40 % of MEMORY.md, or, where
 * inputs went, their share of all inputs plus 20 points; and it may stop citing at most 40 % of the threads that were cited
 * and are still selected, which tells a rewrite of the same length apart from an update.
 */
export function checkShrink(of: ShrinkCase): ShrinkVerdict {
  const allowed = allowedPercent(of);
  const lostPercent = percent(of.bytesBefore - of.bytesAfter, of.bytesBefore);
  if (lostPercent > allowed) return { kind: 'refused', measure: 'size', lostPercent, allowedPercent: allowed };
  const lostCitations = percent(of.citationsLost, of.citedBefore);
  if (lostCitations > LIMITS.shrinkPercent) {
    return {
      kind: 'refused',
      measure: 'citations',
      lostPercent: lostCitations,
      allowedPercent: LIMITS.shrinkPercent,
    };
  }
  return { kind: 'allowed' };
}

/**
 * The same for the summary, whose bytes count up to what a reader is shown of it: what lies beyond may always be condensed.
 * @returns the points lost beyond what is allowed, and what is allowed; undefined where nothing too much is
 */
export function checkSummaryShrink(bytesBefore: number, bytesAfter: number, change: RunChange): Loss | undefined {
  const shown = Math.min(bytesBefore, LIMITS.summaryTokens * BYTES_PER_TOKEN);
  return findLoss(percent(shown - bytesAfter, shown), allowedPercent(change));
}

/**
 * The same for skills, by their bytes in all. Where inputs went or a note came, one skill may go, whatever its share: it may have
 * rested on what went.
 */
export function checkSkillShrink(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  change: RunChange,
): Loss | undefined {
  const total = sum(before.values());
  const largest = change.inputsRemoved + change.newNotes > 0 ? Math.max(0, ...before.values()) : 0;
  return findLoss(
    percent(total - sum(after.values()), total),
    Math.max(allowedPercent(change), percent(largest, total)),
  );
}

export interface Loss {
  readonly lostPercent: number;
  readonly allowedPercent: number;
}

function findLoss(lostPercent: number, allowed: number): Loss | undefined {
  return lostPercent > allowed ? { lostPercent, allowedPercent: allowed } : undefined;
}

function allowedPercent({ inputsRemoved, inputsBefore }: Omit<RunChange, 'newNotes'>): number {
  if (inputsRemoved <= 0) return LIMITS.shrinkPercent;
  return Math.max(LIMITS.shrinkPercent, percent(inputsRemoved, inputsBefore) + SLACK_POINTS);
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, number) => total + number, 0);
}

function percent(part: number, whole: number): number {
  return whole <= 0 ? 0 : (100 * Math.max(0, part)) / whole;
}
