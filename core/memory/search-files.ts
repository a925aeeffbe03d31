import { InvalidInputError } from '../errors.ts';
import { LIMITS } from '../settings.ts';
import { decodeUtf8Strict } from '../text.ts';
import { findTarget, type MemoryFiles } from './memory-files.ts';
import { takePage } from './page.ts';
import { findWindows, foldText, type LineWindow, type MatchMode, splitLines, type TextFolding } from './search-text.ts';

export interface SearchRequest {
  /** At least one, none blank; outer white space does not count. */
  readonly queries: readonly string[];
  /** Default: any. */
  readonly matchMode?: MatchMode | null | undefined;
  /** A file or a folder; absent: the whole memory. */
  readonly path?: string | null | undefined;
  readonly cursor?: string | null | undefined;
  /** Lines shown around a match; default 0. */
  readonly contextLines?: number | null | undefined;
  /** Default: true. */
  readonly caseSensitive?: boolean | null | undefined;
  /** Only letters and digits count; default: false. */
  readonly normalized?: boolean | null | undefined;
  /** 1 to 200, which is the default. */
  readonly maxResults?: number | null | undefined;
}

export interface FoundMatch {
  readonly path: string;
  readonly match_line_number: number;
  readonly content_start_line_number: number;
  /** Lines joined by LF, without a final one. */
  readonly content: string;
  /** The trimmed queries seen in the match, in the order of the request. */
  readonly matched_queries: readonly string[];
}

/** As the wire shows it. */
export interface SearchResult {
  readonly queries: readonly string[];
  readonly match_mode: MatchMode;
  readonly path: string | null;
  readonly matches: readonly FoundMatch[];
  readonly next_cursor: string | null;
  readonly truncated: boolean;
}

/**
 * Searches files line by line (behaviours N-14..N-20), sorted by path, then line. Files that are not UTF-8 are skipped;
 * hidden files and symlinks cannot exist in a version. Composed and decomposed Unicode find each other.
 * @throws InvalidInputError `search.empty_query`, `search.invalid_window`, `path.invalid`, `cursor.invalid`
 * @throws NotFoundError `path.not_found`
 */
export async function searchFiles(files: MemoryFiles, request: SearchRequest): Promise<SearchResult> {
  const folding = { caseSensitive: request.caseSensitive ?? true, normalized: request.normalized ?? false };
  const mode = request.matchMode ?? { type: 'any' };
  const queries = request.queries.map((query) => query.trim());
  const wanted = { queries: foldQueries(queries, folding), mode, folding };
  if (mode.type === 'all_within_lines' && mode.line_count < 1) {
    throw new InvalidInputError('search.invalid_window', 'match_mode.line_count must be 1 or more', {
      details: { field: 'match_mode.line_count' },
    });
  }
  const found: { path: string; lines: readonly string[]; window: LineWindow }[] = [];
  for (const path of pathsBelow(files, request.path ?? '')) {
    const text = decodeUtf8Strict(await files.read(path));
    if (text === undefined) continue;
    const lines = splitLines(text);
    const windows = findWindows(lines, wanted.queries, mode, folding);
    for (const window of windows) found.push({ path, lines, window });
  }
  const page = takePage(found, { ...request, most: LIMITS.searchMaxResults });
  const contextLines = Math.max(0, request.contextLines ?? 0);
  return {
    queries,
    match_mode: mode,
    path: request.path ?? null,
    matches: page.items.map(({ path, lines, window }) => ({
      path,
      ...showWindow(lines, window, contextLines),
      matched_queries: window.queries.map((index) => queries[index] ?? ''),
    })),
    next_cursor: page.nextCursor,
    truncated: page.nextCursor !== null,
  };
}

function foldQueries(queries: readonly string[], folding: TextFolding): string[] {
  const folded = queries.map((query) => foldText(query, folding));
  if (folded.length === 0 || folded.includes('')) {
    throw new InvalidInputError(
      'search.empty_query',
      folding.normalized
        ? 'queries must hold at least one query, each with a letter or digit'
        : 'queries must hold at least one query, none of them blank',
      { details: { field: 'queries' } },
    );
  }
  return folded;
}

function pathsBelow(files: MemoryFiles, written: string): readonly string[] {
  const target = findTarget(files, written);
  if (target.kind === 'file') return [target.path];
  return target.path === '' ? files.paths : files.paths.filter((path) => path.startsWith(`${target.path}/`));
}

function showWindow(
  lines: readonly string[],
  window: LineWindow,
  contextLines: number,
): Pick<FoundMatch, 'match_line_number' | 'content_start_line_number' | 'content'> {
  const first = Math.max(0, window.first - contextLines);
  const last = Math.min(lines.length - 1, window.last + contextLines);
  return {
    match_line_number: window.first + 1,
    content_start_line_number: first + 1,
    content: lines.slice(first, last + 1).join('\n'),
  };
}
