import * as z from 'zod';
import type { NoteRequest } from '../../core/memory/add-note.ts';
import type { ReadSummaryRequest } from '../../core/memory/read-summary.ts';
import type { RecordCitationRequest } from '../../core/memory/record-citation.ts';
import { parseArguments } from '../../core/memory/tool-arguments.ts';

/** Arguments of the tools that `core/memory/tool-arguments.ts` does not know; null counts as absent there as here. */
const MAX_LOCATION = 4_096;
const location = z.string().min(1).max(MAX_LOCATION).nullish();

const summaryShape = z.strictObject({
  cwd: location,
  repository: location,
  scope: z.enum(['auto', 'global', 'all']).nullish(),
  version: z.int().min(0).nullish(),
  max_tokens: z.int().min(1).max(2_500).nullish(),
});
const noteShape = z.strictObject({ note: z.string(), filename: z.string().nullish() });
const citeShape = z.strictObject({
  text: z.string().nullish(),
  rollout_ids: z.array(z.string()).max(1_000).nullish(),
  idempotency_key: z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, { error: 'must be 1 to 200 visible ASCII characters' })
    .nullish(),
});
const sourceShape = citeShape.refine((cite) => isGiven(cite.text) !== isGiven(cite.rollout_ids), {
  error: 'must hold either text or rollout_ids',
});

function isGiven(value: unknown): boolean {
  return value !== null && value !== undefined;
}

/** @throws InvalidInputError `arguments.unknown_field`, `arguments.invalid` */
export function parseSummaryArguments(value: unknown): ReadSummaryRequest {
  const found = parseArguments(summaryShape, value);
  return {
    cwd: found.cwd,
    repository: found.repository,
    scope: found.scope,
    version: found.version,
    maxTokens: found.max_tokens,
  };
}

/** @throws InvalidInputError `arguments.unknown_field`, `arguments.invalid` */
export function parseNoteArguments(value: unknown): NoteRequest {
  const found = parseArguments(noteShape, value);
  return { filename: found.filename, note: found.note, actor: 'mcp' };
}

/** Either the whole answer of an assistant, or the ids that it cites. @throws InvalidInputError as above */
export function parseCiteArguments(value: unknown): RecordCitationRequest {
  const { text, rollout_ids: ids, idempotency_key: idempotencyKey } = parseArguments(sourceShape, value);
  const source = typeof text === 'string' ? { text } : { citation: { rollout_ids: ids ?? [] } };
  return { source, idempotencyKey };
}
