import * as z from 'zod/mini';

/** Wire schemas of `POST /v1/memory/notes` (api.md, behaviours N-21..N-23); the use case checks name and size. */

export const noteBody = z.strictObject({ filename: z.nullish(z.string()), note: z.string() });

export const noteAnswer = z.strictObject({ path: z.string(), pending: z.literal(true) });
