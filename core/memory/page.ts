import { InvalidInputError } from '../errors.ts';

export interface Page<T> {
  readonly items: readonly T[];
  /** Offset of the next page as decimal text; null on the last one. */
  readonly nextCursor: string | null;
}

/**
 * One page of results. Cursors are decimal offsets as text (behaviours N-07); the count of results is clamped to
 * 1..`most`, absent means `most` (N-03).
 * @throws InvalidInputError `cursor.invalid` for anything but a number up to the count of results
 */
export function takePage<T>(
  results: readonly T[],
  request: {
    readonly cursor?: string | null | undefined;
    readonly maxResults?: number | null | undefined;
    readonly most: number;
  },
): Page<T> {
  const start = readCursor(request.cursor ?? '0', results.length);
  const wanted = request.maxResults ?? request.most;
  const count = Math.min(request.most, Math.max(1, Math.trunc(wanted)));
  const end = Math.min(results.length, start + count);
  return { items: results.slice(start, end), nextCursor: end < results.length ? String(end) : null };
}

function readCursor(cursor: string, resultCount: number): number {
  const offset = /^[0-9]+$/.test(cursor) ? Number(cursor) : Number.NaN;
  if (offset <= resultCount) return offset;
  throw new InvalidInputError('cursor.invalid', 'cursor must be the next_cursor of an earlier answer', {
    details: { field: 'cursor', limit: resultCount },
  });
}
