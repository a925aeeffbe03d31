/**
 * Which lines of one text match (behaviours N-15, N-17, N-18). Pure matching: no paths, no paging.
 */
export type MatchMode =
  | { readonly type: 'any' }
  | { readonly type: 'all_on_same_line' }
  | { readonly type: 'all_within_lines'; readonly line_count: number };

export interface TextFolding {
  readonly caseSensitive: boolean;
  /** Only letters and digits count (N-18). */
  readonly normalized: boolean;
}

/** Lines `first` to `last`, from 0, with the indexes of the queries seen there, ascending. */
export interface LineWindow {
  readonly first: number;
  readonly last: number;
  readonly queries: readonly number[];
}

/**
 * The form in which query and line are compared. Composed and decomposed Unicode become one form, and full-width ASCII its
 * plain form, so that each is found by a query in the other (user case B27). Case goes first, then what is no letter or digit.
 */
export function foldText(text: string, folding: TextFolding): string {
  let folded = text;
  if (hasWideText(folded)) folded = narrowAscii(folded.normalize('NFC'));
  // A final sigma is the same letter; lower-casing one word and one line may disagree about which to use.
  if (!folding.caseSensitive) folded = folded.toLowerCase().replaceAll('ς', 'σ');
  return folding.normalized ? folded.replace(/[^\p{Alphabetic}\p{N}]/gu, '') : folded;
}

/** Splits on LF, drops one CR before it and the empty line after the last LF (behaviours section 4). */
export function splitLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
}

/** Windows of matching lines, by first line. `queries` are folded already. */
export function findWindows(
  lines: readonly string[],
  queries: readonly string[],
  mode: MatchMode,
  folding: TextFolding,
): LineWindow[] {
  const hits = lines.map((line) => {
    const folded = foldText(line, folding);
    return queries.flatMap((query, index) => (folded.includes(query) ? [index] : []));
  });
  switch (mode.type) {
    case 'any':
      return hits.flatMap((found, line) => (found.length > 0 ? [{ first: line, last: line, queries: found }] : []));
    case 'all_on_same_line':
      return hits.flatMap((found, line) =>
        found.length === queries.length ? [{ first: line, last: line, queries: found }] : [],
      );
    case 'all_within_lines':
      return dropContaining(
        hits.flatMap((found, line) =>
          found.length > 0 ? extend(hits, line, { lineCount: mode.line_count, queryCount: queries.length }) : [],
        ),
      );
  }
}

/** The shortest window from `first` that sees all queries within `lineCount` lines; none if there is none. */
function extend(
  hits: readonly (readonly number[])[],
  first: number,
  want: { readonly lineCount: number; readonly queryCount: number },
): LineWindow[] {
  const seen = new Set<number>();
  const end = Math.min(hits.length, first + want.lineCount);
  for (let last = first; last < end; last++) {
    for (const query of hits[last] ?? []) seen.add(query);
    if (seen.size === want.queryCount) return [{ first, last, queries: [...seen].sort((a, b) => a - b) }];
  }
  return [];
}

/** Drops windows that strictly contain another one. Windows come by ascending first line, one a line. */
function dropContaining(windows: readonly LineWindow[]): LineWindow[] {
  const kept: LineWindow[] = [];
  let earliestEnd = Number.POSITIVE_INFINITY; // of all windows that start later
  for (const window of windows.toReversed()) {
    if (window.last < earliestEnd) kept.push(window);
    earliestEnd = Math.min(earliestEnd, window.last);
  }
  return kept.reverse();
}

function hasWideText(text: string): boolean {
  return /[^\0-\x7f]/.test(text);
}

/** Full-width forms U+FF01..U+FF5E and the ideographic space, as ASCII. */
function narrowAscii(text: string): string {
  return text.replace(/[\uff01-\uff5e\u3000]/g, (wide) =>
    wide === '\u3000' ? ' ' : String.fromCharCode(wide.charCodeAt(0) - 0xfee0),
  );
}
