import * as z from 'zod/mini';

/** Wire schemas of `/v1/rollouts` (api.md). */

const LOCATION_CHARS = 4_096;
const location = z.string().check(z.minLength(1), z.maxLength(LOCATION_CHARS));
/** RFC 3339, or ms since the epoch. */
const time = z.union([z.iso.datetime({ offset: true }), z.int().check(z.minimum(0))]);
const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/, { error: 'must be 64 lower-case hex digits' }));

const said = {
  sha256: z.nullish(sha256),
  bytes: z.nullish(z.int().check(z.minimum(0))),
  /** Told by magic bytes, never by name; accepted so that a client can say what it does. */
  content_encoding: z.nullish(z.enum(['identity', 'gzip', 'zstd'])),
  source: z.nullish(z.string().check(z.minLength(1), z.maxLength(128))),
  source_updated_at: z.nullish(time),
  cwd: z.nullish(location),
  repository: z.nullish(location),
  git_branch: z.nullish(z.string().check(z.minLength(1), z.maxLength(1_024))),
};

export const uploadBody = z.strictObject({ thread_id: z.string(), ...said, ended: z.nullish(z.boolean()) });

export const uploadQuery = {
  schema: z.strictObject({ ...said, ended: z.optional(z.enum(['true', 'false'])) }),
  integers: ['bytes', 'source_updated_at'],
};

/** What an uploader says of a rollout, in a body or a query. */
export type SaidOfUpload = Omit<z.output<typeof uploadBody>, 'thread_id'>;

export const offerAnswer = z.strictObject({
  thread_id: z.string(),
  upload: z.strictObject({
    method: z.literal('PUT'),
    url: z.url(),
    headers: z.record(z.string(), z.string()),
    expires_at: z.iso.datetime({ offset: true }),
  }),
});

export const unchangedAnswer = z.strictObject({ thread_id: z.string(), unchanged: z.literal(true) });

export const receivedAnswer = z.strictObject({ thread_id: z.string(), unchanged: z.boolean() });
