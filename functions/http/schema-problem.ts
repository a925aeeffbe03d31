import * as z from 'zod/mini';

/** Wire schema of every error answer (RFC 9457, api.md). Extension members are the error's safe details. */
export const problemAnswer = z.catchall(
  z.object({
    type: z.literal('about:blank'),
    title: z.string(),
    status: z.int().check(z.minimum(400), z.maximum(599)),
    code: z.string().check(z.regex(/^[a-z_]+(\.[a-z_]+)*$/)),
    detail: z.string(),
    instance: z.optional(z.string().check(z.regex(/^urn:uuid:/))),
  }),
  z.union([z.string(), z.number(), z.boolean(), z.null()]),
);
