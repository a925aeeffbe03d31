import * as z from 'zod/mini';

/** Wire schemas of `/v1/status` and `/healthz` (api.md). Times are RFC 3339. */

const count = z.int().check(z.minimum(0));
const time = z.nullable(z.iso.datetime({ offset: true }));

export const statusAnswer = z.strictObject({
  threads: z.strictObject({
    total: count,
    by_outcome: z.record(z.string(), count),
    redactions: z.record(z.string(), count),
  }),
  extraction: z.strictObject({
    queued: count,
    running: count,
    failed: count,
    deferred: count,
    oldest_queued_at: time,
  }),
  consolidation: z.strictObject({
    status: z.enum(['none', 'pending', 'running', 'done', 'error']),
    last_success_at: time,
    last_error: z.nullable(z.string()),
    next_at: time,
    stale: z.boolean(),
  }),
  memory: z.strictObject({ version: count, published_at: time, bytes: count, files: count }),
  usage: z.strictObject({
    today: z.strictObject({ input_tokens: count, cached_tokens: count, output_tokens: count, calls: count }),
    budget: count,
  }),
  health: z.enum(['ok', 'degraded', 'failing']),
});

export const healthAnswer = z.strictObject({ status: z.literal('ok') });
