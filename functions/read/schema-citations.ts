import * as z from 'zod/mini';

/** Wire schemas of `POST /v1/citations` (api.md, behaviours 1.O, 1.P). */

/** Visible ASCII: a key goes into headers and table keys. */
export const idempotencyKey = z
  .string()
  .check(z.regex(/^[\x21-\x7e]{1,200}$/, { error: 'must be 1 to 200 visible ASCII characters' }));

export const citationQuery = { schema: z.strictObject({ idempotency_key: z.optional(idempotencyKey) }) };

const line = z.int().check(z.minimum(0), z.maximum(4_294_967_295));
const entry = z.strictObject({ path: z.string(), line_start: line, line_end: line, note: z.string() });
const rolloutIds = z.array(z.string());

/** Exactly one of the two: the assistant's whole answer, or a citation that was parsed already. */
export const citationBody = z
  .strictObject({
    text: z.optional(z.string()),
    citation: z.optional(
      z.strictObject({
        entries: z.nullish(z.array(entry).check(z.maxLength(1_000))),
        rollout_ids: rolloutIds.check(z.maxLength(1_000)),
      }),
    ),
  })
  .check(
    z.refine((body) => (body.text === undefined) !== (body.citation === undefined), {
      error: 'must hold either text or citation',
    }),
  );

export const citationAnswer = z.strictObject({
  visible_text: z.nullable(z.string()),
  citation: z.nullable(z.strictObject({ entries: z.array(entry), rollout_ids: rolloutIds })),
  recorded: z.int().check(z.minimum(0)),
  unknown: z.array(z.string()),
});
