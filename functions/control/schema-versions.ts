import * as z from 'zod/mini';

/** Wire schemas of `/v1/consolidations` and `/v1/memory/versions` (api.md). */

const count = z.int().check(z.minimum(0));
const time = z.iso.datetime({ offset: true });

export const startedAnswer = z.strictObject({ id: z.string() });

export const consolidationAnswer = z.strictObject({
  id: z.string(),
  requested_at: time,
  status: z.enum(['pending', 'running', 'done', 'error']),
  last_error: z.nullable(z.string()),
  version: z.nullable(count),
  counts: z.nullable(z.strictObject({ inputs: count, removed: count, files: count })),
});

/** The header `Link` of an answer that is cut names the next page; out of range counts as the nearest limit. */
export const versionsQuery = {
  schema: z.strictObject({
    cursor: z.optional(z.string().check(z.maxLength(20))),
    max_results: z.optional(z.int()),
  }),
  integers: ['max_results'],
};

/** `against`: the older side, 0 for nothing at all; absent: the parent. */
export const diffQuery = {
  schema: z.strictObject({ against: z.optional(z.int().check(z.minimum(0))) }),
  integers: ['against'],
};

/** `changed` false: the memory was like that already, and `version` is the present one. */
export const restoredAnswer = z.strictObject({ version: count, restored: count, changed: z.boolean() });

/** What became of a file that was sent or deleted by hand; `changed` as above. */
export const editAnswer = z.strictObject({ path: z.string(), version: count, changed: z.boolean() });

/** `difference`: the first thing in which the replay differs, null where it is equal byte for byte. */
export const replayAnswer = z.strictObject({
  version: count,
  equal: z.boolean(),
  difference: z.nullable(
    z.discriminatedUnion('kind', [
      z.strictObject({
        kind: z.literal('file'),
        path: z.string(),
        line: z.int().check(z.minimum(1)),
        kept: z.nullable(z.string()),
        replayed: z.nullable(z.string()),
      }),
      z.strictObject({ kind: z.literal('manifest'), field: z.string() }),
      z.strictObject({ kind: z.literal('step'), asked: z.string(), kept: z.nullable(z.string()) }),
      z.strictObject({ kind: z.literal('end'), code: z.string(), detail: z.string() }),
    ]),
  ),
  files: count,
  answers: count,
  model: z.string(),
});

export const versionsAnswer = z.array(
  z.strictObject({
    version: count,
    parent: count,
    created_at: time,
    reason: z.string(),
    added: count,
    retained: count,
    removed: count,
    files_changed: count,
  }),
);

export const manifestAnswer = z.strictObject({
  version: count,
  parent: count,
  created_at: z.int(),
  reason: z.string(),
  actor: z.string(),
  inputs: z.array(z.strictObject({ thread_id: z.string(), source_updated_at: z.int() })),
  removed: z.array(z.string()),
  files: z.record(z.string(), z.strictObject({ version_id: z.string(), sha256: z.string(), bytes: count })),
  model: z.nullable(z.string()),
  prompt_version: z.nullable(z.string()),
  token_usage: z.record(z.string(), z.number()),
  way: z.optional(z.enum(['loop', 'once'])),
  turns: z.optional(count),
  /** What its outputs rest on: for every path, rows of a line and of places in `threads`. */
  provenance: z.optional(
    z.strictObject({ threads: z.array(z.string()), blocks: z.record(z.string(), z.array(z.array(count))) }),
  ),
  notes_consumed: z.array(z.string()),
});
