import { InvalidInputError } from '../errors.ts';
import { LIMITS } from '../settings.ts';
import { decodeUtf8Strict, truncateTokens } from '../text.ts';
import { findTarget, type MemoryFiles } from './memory-files.ts';

export interface ReadRequest {
  readonly path: string;
  /** First line wanted, from 1, which is the default. */
  readonly lineOffset?: number | null | undefined;
  /** Absent: all lines. */
  readonly maxLines?: number | null | undefined;
}

/** As the wire shows it. */
export interface FileText {
  /** As the caller wrote it (behaviours N-06). */
  readonly path: string;
  readonly start_line_number: number;
  /** Line ends are kept as they are. */
  readonly content: string;
  /** Text follows the returned lines, or the middle was cut out. Lines skipped at the start do not count. */
  readonly truncated: boolean;
}

/**
 * Reads lines of a file (behaviours N-10..N-13), at most 20,000 tokens of them; more is cut in the middle (M-01).
 * Lines are told by LF alone; an offset one past the last LF reads as empty.
 * @throws InvalidInputError `read.invalid_offset`, `read.invalid_max_lines`, `path.invalid`, `read.not_a_file`,
 *   `read.not_text` for bytes that are not UTF-8, `read.past_end`
 * @throws NotFoundError `path.not_found`
 */
export async function readFile(files: MemoryFiles, request: ReadRequest): Promise<FileText> {
  const offset = request.lineOffset ?? 1;
  const maxLines = request.maxLines ?? Number.POSITIVE_INFINITY;
  if (offset < 1) throw refuse('read.invalid_offset', 'line_offset', 'line_offset must be 1 or more');
  if (maxLines < 1) throw refuse('read.invalid_max_lines', 'max_lines', 'max_lines must be 1 or more');
  const text = decodeUtf8Strict(await readWholeFile(files, request.path));
  if (text === undefined)
    throw refuse('read.not_text', 'path', 'the file is not UTF-8 text and cannot be read by lines');
  const start = skipLines(text, 0, offset - 1);
  if (start === undefined) {
    throw refuse('read.past_end', 'line_offset', 'line_offset must not be past the last line of the file');
  }
  const end = skipLines(text, start, maxLines) ?? text.length;
  const lines = text.slice(start, end);
  const content = truncateTokens(lines, LIMITS.readToolTokens);
  return {
    path: request.path,
    start_line_number: offset,
    content,
    truncated: end < text.length || content !== lines,
  };
}

/**
 * The whole content of a file, as it is.
 * @throws InvalidInputError `path.invalid`, `read.not_a_file`
 * @throws NotFoundError `path.not_found`
 */
export async function readWholeFile(files: MemoryFiles, path: string): Promise<Uint8Array> {
  return files.read(findFile(files, path));
}

/**
 * The workspace path of the file that a caller's path names.
 * @throws InvalidInputError `path.invalid`, `read.not_a_file`
 * @throws NotFoundError `path.not_found`
 */
export function findFile(files: MemoryFiles, path: string): string {
  const target = findTarget(files, path);
  if (target.kind === 'folder') throw refuse('read.not_a_file', 'path', 'path must name a file, not a folder');
  return target.path;
}

/** Index after `count` LFs from `from`; undefined when the text has fewer. */
function skipLines(text: string, from: number, count: number): number | undefined {
  let at = from;
  for (let skipped = 0; skipped < count; skipped++) {
    const end = text.indexOf('\n', at);
    if (end < 0) return undefined;
    at = end + 1;
  }
  return at;
}

function refuse(code: string, field: string, message: string): InvalidInputError {
  return new InvalidInputError(code, message, { details: { field } });
}
