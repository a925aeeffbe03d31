import { LIMITS } from '../settings.ts';

/** Points on top of the share of removed inputs (DV-19). */
const SLACK_POINTS = 20;

/** Faults of results that lose too much: an alarm (DV-19). */
export const SHRINK_CODES: ReadonlySet<string> = new Set(['memory.shrunk', 'summary.shrunk', 'skill.shrunk']);

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
  const removedPercent = percent(of.inputsRemoved, of.inputsBefore);
  const allowedPercent =
    of.inputsRemoved > 0 ? Math.max(LIMITS.shrinkPercent, removedPercent + SLACK_POINTS) : LIMITS.shrinkPercent;
  const lostPercent = percent(of.bytesBefore - of.bytesAfter, of.bytesBefore);
  if (lostPercent > allowedPercent) return { kind: 'refused', measure: 'size', lostPercent, allowedPercent };
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

function percent(part: number, whole: number): number {
  return whole <= 0 ? 0 : (100 * Math.max(0, part)) / whole;
}
