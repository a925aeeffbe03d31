import * as z from 'zod';
import { InvalidInputError } from '../errors.ts';
import type { ListRequest } from './list-files.ts';
import type { ReadRequest } from './read-file.ts';
import type { SearchRequest } from './search-files.ts';

/**
 * Arguments of the memory tools as callers send them: JSON objects with snake_case names, null counts as absent,
 * unknown fields are refused (behaviours N-02). Ranges are checked by the tools themselves.
 */
const whole = z.int().nullish();
const version = z.int().min(0).nullish();
const listShape = z.strictObject({
  path: z.string().nullish(),
  cursor: z.string().nullish(),
  max_results: whole,
  version,
});
const readShape = z.strictObject({ path: z.string(), line_offset: whole, max_lines: whole, version });
const matchModeShape = z.union([
  z.strictObject({ type: z.literal('any') }),
  z.strictObject({ type: z.literal('all_on_same_line') }),
  z.strictObject({ type: z.literal('all_within_lines'), line_count: z.int() }),
]);
const searchShape = z.strictObject({
  queries: z.array(z.string()),
  match_mode: matchModeShape.nullish(),
  path: z.string().nullish(),
  cursor: z.string().nullish(),
  context_lines: whole,
  case_sensitive: z.boolean().nullish(),
  normalized: z.boolean().nullish(),
  max_results: whole,
  rank: z.boolean().nullish(),
  cwd: z.string().nullish(),
  repository: z.string().nullish(),
  version,
});

/** A request of a version that the caller holds on to; undefined: the present one. */
type Pinned<Request> = Request & { readonly version: number | undefined };

/** @throws InvalidInputError `arguments.unknown_field`, `arguments.invalid` */
export function parseListArguments(value: unknown): Pinned<ListRequest> {
  const found = parseArguments(listShape, value);
  return { path: found.path, cursor: found.cursor, maxResults: found.max_results, version: found.version ?? undefined };
}

/** @throws InvalidInputError `arguments.unknown_field`, `arguments.invalid` */
export function parseReadArguments(value: unknown): Pinned<ReadRequest> {
  const found = parseArguments(readShape, value);
  return {
    path: found.path,
    lineOffset: found.line_offset,
    maxLines: found.max_lines,
    version: found.version ?? undefined,
  };
}

/** @throws InvalidInputError `arguments.unknown_field`, `arguments.invalid` */
export function parseSearchArguments(value: unknown): Pinned<SearchRequest> {
  const found = parseArguments(searchShape, value);
  return {
    queries: found.queries,
    matchMode: found.match_mode,
    path: found.path,
    cursor: found.cursor,
    contextLines: found.context_lines,
    caseSensitive: found.case_sensitive,
    normalized: found.normalized,
    maxResults: found.max_results,
    rank: found.rank,
    cwd: found.cwd,
    repository: found.repository,
    version: found.version ?? undefined,
  };
}

/**
 * Reads the arguments of a tool call. @param value what the caller sent; nothing counts as no arguments
 * @throws InvalidInputError `arguments.unknown_field`, `arguments.invalid`
 */
export function parseArguments<T>(shape: z.ZodType<T>, value: unknown): T {
  const result = shape.safeParse(value ?? {});
  if (result.success) return result.data;
  // An unknown field is named first: a caller that uses an old name is told so before it is told what is missing.
  const unknown = result.error.issues.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown?.code === 'unrecognized_keys') {
    const field = (unknown.keys[0] ?? '').slice(0, 64);
    throw new InvalidInputError('arguments.unknown_field', `unknown field ${field}`, { details: { field } });
  }
  const first = result.error.issues[0];
  const field = first?.path.join('.') || 'arguments';
  throw new InvalidInputError('arguments.invalid', `${field}: ${first?.message ?? 'is not valid'}`, {
    details: { field },
  });
}
