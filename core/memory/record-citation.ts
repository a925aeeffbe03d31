import * as z from 'zod/mini';
import { ConflictError, DefectError } from '../errors.ts';
import { isThreadId, sha256Hex } from '../ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { Receipt, ReceiptStore } from '../ports/receipt-store.ts';
import type { StageOneStore } from '../ports/stage-one-store.ts';
import { type Citation, readCitations } from './citation.ts';

/** What a receipt keeps of an answer: the rest follows from the request, which comes again, and may be large. */
const keptShape = z.object({ known: z.array(z.string()) });

/** As short as ids of writes are: they lie in items that must stay small. */
const USE_ID_DIGITS = 24;

export interface RecordCitationDeps {
  readonly stageOne: Pick<StageOneStore, 'recordUsage'>;
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
  if (key === null) return answerOf(read, ids, await count(deps, userKey, valid));
  return answerOf(read, ids, await countOnce(deps, userKey, { key, source: request.source, valid }));
}

interface KeyedUse {
  readonly key: string;
  readonly source: CitationSource;
  readonly valid: readonly string[];
}

/**
 * Counts first, keeps the receipt last: a call that fails in between is repeated by its caller, and what it had counted is known
 * again by the id of the use.
 * @returns the ids that were counted, now or by an earlier call under the key
 */
async function countOnce(
  deps: RecordCitationDeps,
  userKey: string,
  { key, source, valid }: KeyedUse,
): Promise<readonly string[]> {
  const name = `citation:${key}`.slice(0, 255);
  const fingerprint = sha256Hex(JSON.stringify(source));
  const found = await deps.receipts.find(userKey, name, deps.clock.now());
  if (found !== undefined) return readKept(found, fingerprint);
  const useId = sha256Hex(JSON.stringify([name, fingerprint])).slice(0, USE_ID_DIGITS);
  const known = await count(deps, userKey, valid, useId);
  const receipt = { fingerprint, answer: JSON.stringify({ known }) };
  const kept = await deps.receipts.keep(userKey, name, receipt, deps.clock.now());
  return kept.kind === 'kept' ? known : readKept(kept.receipt, fingerprint);
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

async function count(
  deps: RecordCitationDeps,
  userKey: string,
  ids: readonly string[],
  useId?: string,
): Promise<readonly string[]> {
  return ids.length === 0 ? [] : deps.stageOne.recordUsage(userKey, ids, deps.clock.now(), useId);
}

function answerOf(read: ReadSource, ids: readonly string[], counted: readonly string[]): CitationAnswer {
  const known = new Set(counted);
  return { ...read, recorded: known.size, unknown: ids.filter((id) => !known.has(id)) };
}

function readKept({ fingerprint, answer }: Receipt, wanted: string): readonly string[] {
  if (fingerprint !== wanted) {
    throw new ConflictError('citation.key_reused', 'idempotency_key was used for another citation; use a new one', {
      details: { field: 'idempotency_key' },
    });
  }
  const found = z.safeParse(keptShape, JSON.parse(answer));
  if (found.success) return found.data.known;
  throw new DefectError('citation.receipt_unreadable', 'a stored receipt cannot be read', { cause: found.error });
}
