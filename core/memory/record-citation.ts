import * as z from 'zod/mini';
import { ConflictError, DefectError } from '../errors.ts';
import { isThreadId, sha256Hex } from '../ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { ReceiptStore } from '../ports/receipt-store.ts';
import type { StageOneStore } from '../ports/stage-one-store.ts';
import { type Citation, readCitations } from './citation.ts';

/** What a receipt keeps of an answer: the rest follows from the request, which comes again, and may be large. */
const keptShape = z.object({ known: z.array(z.string()) });

export interface RecordCitationDeps {
  readonly stageOne: Pick<StageOneStore, 'head' | 'recordUsage'>;
  readonly receipts: ReceiptStore;
  readonly clock: Clock;
}

/** Either the assistant's whole answer, or a citation that the caller has parsed. */
export type CitationSource =
  | { readonly text: string }
  | {
      readonly citation: {
        readonly entries?: Citation['entries'] | null | undefined;
        readonly rollout_ids: readonly string[];
      };
    };

export interface RecordCitationRequest {
  readonly source: CitationSource;
  /** The same key again answers the same and counts nothing; null or absent: every call counts. */
  readonly idempotencyKey?: string | null | undefined;
}

/** As the wire shows it. */
export interface CitationAnswer {
  /** The answer without its citation blocks; null where no text was given. */
  readonly visible_text: string | null;
  readonly citation: Citation | null;
  /** How many threads were counted. */
  readonly recorded: number;
  /** Cited ids that are no thread of this user with a memory. */
  readonly unknown: readonly string[];
}

/**
 * Counts what an assistant's answer cites (`POST /v1/citations`; behaviours 1.O, 1.P): each of the user's own threads once an
 * answer. Ids of others, and what is no id, are answered as unknown. Text of a user or a tool must not be given here.
 * @throws ConflictError `citation.key_reused` for a key that was used for another answer
 */
export async function recordCitation(
  deps: RecordCitationDeps,
  userKey: string,
  request: RecordCitationRequest,
): Promise<CitationAnswer> {
  const read = readSource(request.source);
  const ids = [...new Set(read.citation?.rollout_ids ?? [])];
  const valid = ids.filter(isThreadId);
  const key = request.idempotencyKey ?? null;
  if (key === null) {
    const counted = await count(deps, userKey, valid);
    return answerOf(read, ids, counted);
  }
  // The receipt comes before the deed, so the answer must be known before it: a caller that dies in between counts nothing.
  const known = await findKnown(deps, userKey, valid);
  const receipt = { fingerprint: sha256Hex(JSON.stringify(request.source)), answer: JSON.stringify({ known }) };
  const kept = await deps.receipts.keep(userKey, `citation:${key}`.slice(0, 255), receipt, deps.clock.now());
  if (kept.kind === 'kept') {
    await count(deps, userKey, known);
    return answerOf(read, ids, known);
  }
  if (kept.receipt.fingerprint !== receipt.fingerprint) {
    throw new ConflictError('citation.key_reused', 'idempotency_key was used for another citation; use a new one', {
      details: { field: 'idempotency_key' },
    });
  }
  return answerOf(read, ids, readKept(kept.receipt.answer));
}

type ReadSource = Pick<CitationAnswer, 'visible_text' | 'citation'>;

function readSource(source: CitationSource): ReadSource {
  if ('text' in source) {
    const { visibleText, citation } = readCitations(source.text);
    return { visible_text: visibleText, citation };
  }
  const entries = source.citation.entries ?? [];
  const ids = [...new Set(source.citation.rollout_ids.flatMap((id) => (id.trim() === '' ? [] : [id.trim()])))];
  const isEmpty = entries.length === 0 && ids.length === 0;
  return { visible_text: null, citation: isEmpty ? null : { entries, rollout_ids: ids } };
}

async function count(deps: RecordCitationDeps, userKey: string, ids: readonly string[]): Promise<readonly string[]> {
  return ids.length === 0 ? [] : deps.stageOne.recordUsage(userKey, ids, deps.clock.now());
}

async function findKnown(deps: RecordCitationDeps, userKey: string, ids: readonly string[]): Promise<string[]> {
  const heads = await Promise.all(ids.map((id) => deps.stageOne.head(userKey, id)));
  return ids.filter((_, at) => heads[at] !== undefined);
}

function answerOf(read: ReadSource, ids: readonly string[], counted: readonly string[]): CitationAnswer {
  const known = new Set(counted);
  return { ...read, recorded: known.size, unknown: ids.filter((id) => !known.has(id)) };
}

function readKept(text: string): readonly string[] {
  const found = z.safeParse(keptShape, JSON.parse(text));
  if (found.success) return found.data.known;
  throw new DefectError('citation.receipt_unreadable', 'a stored receipt cannot be read', { cause: found.error });
}
