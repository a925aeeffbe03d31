import { InvalidInputError } from '../errors.ts';
import { LIMITS } from '../settings.ts';
import { decodeUtf8, decodeUtf8Strict } from '../text.ts';
import { findTarget, type MemoryFiles } from './memory-files.ts';
import { takePage } from './page.ts';
import { findRequestedProject, listPlaces } from './project-places.ts';
import { type RankHit, type RankIndex, RankIndexes } from './rank-index.ts';
import { findWindows, foldText, type LineWindow, type MatchMode, splitLines, type TextFolding } from './search-text.ts';
import { findOwners } from './section-owners.ts';

const MEMORY_PATH = 'MEMORY.md';
/** Lines of a section that is shown without a line that matched. */
const SECTION_LINES = 12;

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
  /** True: the best answer first instead of by path; default: false. */
  readonly rank?: boolean | null | undefined;
  /** With either of both: only what is everybody's or belongs to the project that they name. */
  readonly cwd?: string | null | undefined;
  readonly repository?: string | null | undefined;
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
 * With `rank` the same matches come by how well their sections answer (BM25). Where no line holds a query as it was written,
 * `rank` answers with the sections that share words with one: a question in plain words finds something too.
 * @param indexes keeps what ranking needs from one search of a version to the next
 * @throws InvalidInputError `search.empty_query`, `search.invalid_window`, `path.invalid`, `cursor.invalid`
 * @throws NotFoundError `path.not_found`
 */
export async function searchFiles(
  files: MemoryFiles,
  request: SearchRequest,
  indexes = new RankIndexes(),
): Promise<SearchResult> {
  const folding = { caseSensitive: request.caseSensitive ?? true, normalized: request.normalized ?? false };
  const mode = request.matchMode ?? { type: 'any' };
  const queries = request.queries.map((query) => query.trim());
  const wanted = { queries: foldQueries(queries, folding), mode, folding };
  if (mode.type === 'all_within_lines' && mode.line_count < 1) {
    throw new InvalidInputError('search.invalid_window', 'match_mode.line_count must be 1 or more', {
      details: { field: 'match_mode.line_count' },
    });
  }
  const isInScope = await scopeOf(files, request);
  const texts = new Map<string, SearchedText>();
  const found: Found[] = [];
  for (const path of pathsBelow(files, request.path ?? '')) {
    const text = decodeUtf8Strict(await files.read(path));
    if (text === undefined) continue;
    const lines = splitLines(text);
    const searched = { path, lines, shows: isInScope(path, text) };
    texts.set(path, searched);
    for (const window of findWindows(lines, wanted.queries, mode, folding))
      if (searched.shows(window.first)) found.push({ ...searched, window });
  }
  const index = request.rank === true ? await indexes.of(files) : null;
  const ordered = index === null ? found : rankFound(found, { index, queries, mode, texts });
  const page = takePage(ordered, { ...request, most: LIMITS.searchMaxResults });
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

interface SearchedText {
  readonly path: string;
  readonly lines: readonly string[];
  /** Whether the line, from 0, is in the scope of the request. */
  readonly shows: (line: number) => boolean;
}

type Found = SearchedText & { readonly window: LineWindow };

/** The scope of a request, as `GET /v1/memory` has it: an unknown project sees what is everybody's (user case A9). */
async function scopeOf(
  files: MemoryFiles,
  request: SearchRequest,
): Promise<(path: string, text: string) => (line: number) => boolean> {
  if (!request.cwd && !request.repository) return () => () => true;
  const memory = files.paths.includes(MEMORY_PATH) ? decodeUtf8(await files.read(MEMORY_PATH)) : '';
  const places = listPlaces(memory);
  const project = findRequestedProject(request, places);
  return (path, text) => {
    const ownerOf = findOwners(path, text, places);
    return (line) => {
      const owner = ownerOf(line);
      return owner === null || owner === project;
    };
  };
}

interface Ranking {
  readonly index: RankIndex;
  readonly queries: readonly string[];
  readonly mode: MatchMode;
  readonly texts: ReadonlyMap<string, SearchedText>;
}

function rankFound(found: readonly Found[], { index, queries, mode, texts }: Ranking): readonly Found[] {
  const hits = index.search(queries);
  if (found.length === 0 && mode.type === 'any') return hits.flatMap((hit) => showHit(hit, texts));
  const scores = new Map(hits.map(({ section, score }) => [section, score]));
  const scoreOf = ({ path, window }: Found): number => {
    const section = index.sectionAt(path, window.first);
    return section === undefined ? 0 : (scores.get(section) ?? 0);
  };
  // The sort is stable: what answers equally well stays in the order of path and line.
  return found
    .map((item) => ({ item, score: scoreOf(item) }))
    .sort((left, right) => right.score - left.score)
    .map(({ item }) => item);
}

/** A section as a match, not more of it than a person reads at a glance. */
function showHit({ section, queries }: RankHit, texts: ReadonlyMap<string, SearchedText>): Found[] {
  const text = texts.get(section.path);
  if (text === undefined || !text.shows(section.first)) return [];
  const last = Math.min(section.last, section.first + SECTION_LINES - 1);
  return [{ ...text, window: { first: section.first, last, queries } }];
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
