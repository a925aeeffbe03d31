/**
 * Stands at the end of what rested in part on a forgotten thread, until the next consolidation has said it anew from what is
 * left. Worded for a reader who meets it before that.
 */
export const STALE_MARK = '(stale: rested in part on a forgotten session; check first)';

/** The text with the mark at its end; once is enough. */
export function markStale(text: string): string {
  return text.includes(STALE_MARK) ? text : `${text} ${STALE_MARK}`;
}

/** The text without the mark. */
export function unmark(text: string): string {
  return text.replaceAll(` ${STALE_MARK}`, '').replaceAll(STALE_MARK, '');
}

/** Lines of a text that bear the mark, from 1. */
export function markedLines(text: string): readonly number[] {
  if (!text.includes(STALE_MARK)) return [];
  return text.split('\n').flatMap((line, at) => (line.includes(STALE_MARK) ? [at + 1] : []));
}

/** Words of two statements are compared without mark, case, counts in brackets at the end, and spacing. */
export function plainWords(text: string): string {
  return text
    .replaceAll(STALE_MARK, '')
    .replace(/\s*\([^()]*\)\s*$/, '')
    .toLowerCase()
    .replace(/[\s.;,:]+/g, ' ')
    .trim();
}
