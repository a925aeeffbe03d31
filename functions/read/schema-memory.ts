import * as z from 'zod/mini';

/** Wire schemas of `GET /v1/memory` (api.md). */

const LOCATION_CHARS = 4_096;

export const memoryQuery = {
  schema: z.strictObject({
    cwd: z.optional(z.string().check(z.minLength(1), z.maxLength(LOCATION_CHARS))),
    repository: z.optional(z.string().check(z.minLength(1), z.maxLength(LOCATION_CHARS))),
    scope: z.optional(z.enum(['auto', 'global', 'all'])),
    version: z.optional(z.int().check(z.minimum(0))),
    max_tokens: z.optional(z.int().check(z.minimum(1), z.maximum(2_500))),
  }),
  integers: ['version', 'max_tokens'],
};

export const memoryAnswer = z.strictObject({
  enabled: z.boolean(),
  version: z.int().check(z.minimum(0)),
  published_at: z.nullable(z.iso.datetime({ offset: true })),
  scope: z.strictObject({ project: z.nullable(z.string()), matched: z.boolean() }),
  summary: z.string(),
  truncated: z.boolean(),
  omitted_tokens: z.int().check(z.minimum(0)),
  instructions: z.nullable(z.string()),
  base_path: z.string(),
  pending_notes: z.array(z.strictObject({ path: z.string(), text: z.string() })),
  degraded: z.boolean(),
});
