import * as z from 'zod/mini';

/** Wire schemas of `/v1/reset` and `/v1/erase` (api.md). */

const count = z.int().check(z.minimum(0));

export const resetAnswer = z.strictObject({ epoch: count, outputs: count, bodies: count });

export const eraseBody = z.strictObject({ confirm: z.string() });

export const eraseAnswer = z.strictObject({
  erased_at: z.iso.datetime({ offset: true }),
  counts: z.strictObject({ objects: count, versions: count, items: count, messages: count }),
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
});
