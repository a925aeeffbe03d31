import * as z from 'zod/mini';

/** Wire schemas of `/v1/memory/files` and `/v1/memory/search` (api.md, behaviours 1.N). */

const PATH_CHARS = 1_024;
const LOCATION_CHARS = 4_096;
const location = z.string().check(z.minLength(1), z.maxLength(LOCATION_CHARS));
const path = z.string().check(z.maxLength(PATH_CHARS));
const cursor = z.string().check(z.maxLength(20));
/** Out of range counts as the nearest limit (behaviours N-03). */
const maxResults = z.int();
const version = z.int().check(z.minimum(0));

export const listQuery = {
  schema: z.strictObject({
    path: z.optional(path),
    cursor: z.optional(cursor),
    max_results: z.optional(maxResults),
    version: z.optional(version),
  }),
  integers: ['max_results', 'version'],
};

export const listAnswer = z.strictObject({
  path: z.string(),
  entries: z.array(z.strictObject({ path: z.string(), entry_type: z.enum(['file', 'directory']) })),
  next_cursor: z.nullable(z.string()),
  truncated: z.boolean(),
  version,
});

/** Offset 0 and 0 lines are faults of their own (behaviours N-11), told by the use case. */
export const fileQuery = {
  schema: z.strictObject({
    line_offset: z.optional(z.int()),
    max_lines: z.optional(z.int()),
    version: z.optional(version),
  }),
  integers: ['line_offset', 'max_lines', 'version'],
};

export const fileAnswer = z.strictObject({
  path: z.string(),
  start_line_number: z.int(),
  content: z.string(),
  truncated: z.boolean(),
  version,
});

const matchMode = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('any') }),
  z.strictObject({ type: z.literal('all_on_same_line') }),
  z.strictObject({ type: z.literal('all_within_lines'), line_count: z.int() }),
]);

export const searchQuery = { schema: z.strictObject({ version: z.optional(version) }), integers: ['version'] };

/** Counts and lengths are bounded, since each query is looked for in each line. */
export const searchBody = z.strictObject({
  queries: z.array(z.string().check(z.maxLength(1_000))).check(z.maxLength(50)),
  match_mode: z.nullish(matchMode),
  path: z.nullish(path),
  cursor: z.nullish(cursor),
  context_lines: z.nullish(z.int().check(z.minimum(0), z.maximum(1_000))),
  case_sensitive: z.nullish(z.boolean()),
  normalized: z.nullish(z.boolean()),
  max_results: z.nullish(maxResults),
  rank: z.nullish(z.boolean()),
  cwd: z.nullish(location),
  repository: z.nullish(location),
});

export const searchAnswer = z.strictObject({
  queries: z.array(z.string()),
  match_mode: matchMode,
  path: z.nullable(z.string()),
  matches: z.array(
    z.strictObject({
      path: z.string(),
      match_line_number: z.int(),
      content_start_line_number: z.int(),
      content: z.string(),
      matched_queries: z.array(z.string()),
    }),
  ),
  next_cursor: z.nullable(z.string()),
  truncated: z.boolean(),
  version,
});
