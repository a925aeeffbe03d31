import { LIMITS } from '../settings.ts';
import { decodeUtf8 } from '../text.ts';
import { parseTime } from '../time.ts';
import { ByteArena } from './byte-arena.ts';
import { type EvidenceCollector, NoEvidence, TieredEvidence } from './evidence-collector.ts';
import { FactsCollector } from './facts-collector.ts';
import type { FormatReader, RolloutFormat } from './format-reader.ts';
import { FORMATS } from './formats.ts';
import { asText, isObject, type JsonObject, parseRecords } from './json-value.ts';
import { MiddleEvidence } from './middle-evidence.ts';
import { RecordCounts } from './record-counts.ts';
import { RecordHead } from './record-head.ts';
import { RecordSplitter } from './record-splitter.ts';
import type { RolloutReading } from './rollout.ts';

export interface ReadOptions {
  /** Budget of the evidence in tokens; null = facts only. */
  readonly evidenceTokens: number | null;
  /** Tiered rows (DV-13), or the middle cut of upstream's v1. */
  readonly mode?: 'tiered' | 'middle';
}

/**
 * Reads a rollout of any known format from a byte stream, in bounded memory (user cases D1 to D28). Broken records, unknown
 * kinds, a torn last line and records over the limit are counted and passed over.
 *
 * Ends as `failed` with `unrecognised_format` when no record was of a known format, `unreadable` when more than half of the
 * records are broken, `too_large` over the size limit; a file without a conversation is `read`.
 * @param chunks decompressed bytes, cut anywhere
 * @throws whatever the stream throws
 */
export async function readRollout(chunks: AsyncIterable<Uint8Array>, options: ReadOptions): Promise<RolloutReading> {
  const run = new RolloutRun(options);
  for await (const chunk of chunks) {
    run.push(chunk);
    if (run.isTooLarge) break;
  }
  return run.finish();
}

/** How much may be kept while no record has told the format. */
const MAX_UNPLACED_RECORDS = 256;

const NO_BYTES = new Uint8Array(0);

class RolloutRun {
  readonly #splitter = new RecordSplitter(this, LIMITS.recordBytes);
  readonly #head = new RecordHead();
  readonly #arena = new ByteArena();
  readonly #counts = new RecordCounts();
  readonly #evidence: EvidenceCollector;
  readonly #facts: FactsCollector;
  #format: RolloutFormat | undefined;
  #reader: FormatReader | undefined;
  /** Records before the first one that told the format. */
  #unplaced: JsonObject[] = [];

  constructor(options: ReadOptions) {
    this.#evidence = openEvidence(options);
    this.#facts = new FactsCollector(this.#evidence);
  }

  get isTooLarge(): boolean {
    return this.#splitter.bytes > LIMITS.rolloutBytes;
  }

  push(chunk: Uint8Array): void {
    this.#splitter.push(chunk);
  }

  record(bytes: Uint8Array, from: number, to: number, ended: boolean): void {
    const reader = this.#reader;
    if (!reader) {
      this.#parse(bytes, from, to, ended);
      return;
    }
    const head = this.#head;
    head.scan(bytes, from, to);
    const plan = head.sure ? reader.skim(head) : 'read';
    if (plan === 'read') {
      this.#parse(bytes, from, to, ended, head.timeMs);
      return;
    }
    this.#facts.at(head.timeMs);
    this.#counts.add(head.type ?? '', head.payloadType, plan === 'drop');
    if (plan === 'defer')
      reader.defer(head, this.#evidence.keeps('tool') ? this.#arena.keep(bytes, from, to) : NO_BYTES);
  }

  #parse(bytes: Uint8Array, from: number, to: number, ended: boolean, timeMs?: number): void {
    const line = decodeUtf8(bytes.subarray(from, to));
    const { records, whole } = parseRecords(line);
    for (const record of records) this.#take(record, records.length === 1 ? timeMs : undefined);
    if (!whole) this.#counts.addBroken(line, !ended);
  }

  /** @param knownMs its time, where the head told it */
  #take(record: JsonObject, knownMs?: number): void {
    const reader = this.#reader ?? this.#recognise(record);
    if (!reader) {
      if (this.#unplaced.length < MAX_UNPLACED_RECORDS) this.#unplaced.push(record);
      else this.#counts.add(kindOf(record), payloadKindOf(record), true);
      return;
    }
    const timeMs = knownMs ?? parseTime(asText(record['timestamp']) ?? '');
    this.#facts.at(timeMs);
    const kept = reader.read(record, timeMs);
    this.#counts.add(kindOf(record), payloadKindOf(record), !kept);
  }

  #recognise(record: JsonObject): FormatReader | undefined {
    this.#format = FORMATS.find((format) => format.recognises(record));
    if (!this.#format) return undefined;
    this.#reader = this.#format.open(this.#facts);
    const waiting = this.#unplaced;
    this.#unplaced = [];
    for (const earlier of waiting) this.#take(earlier);
    return this.#reader;
  }

  finish(): RolloutReading {
    this.#splitter.end();
    this.#reader?.finish();
    for (const record of this.#unplaced) this.#counts.add(kindOf(record), payloadKindOf(record), true);
    const { evidence, redactions } = this.#evidence.finish();
    const bytes = this.#splitter.bytes;
    const counts = this.#counts.finish({ bytes, oversized: this.#splitter.oversized, redactions });
    if (this.isTooLarge) {
      return { kind: 'failed', reason: 'too_large', detail: `over the limit of ${LIMITS.rolloutBytes} bytes`, counts };
    }
    if (counts.broken > counts.records && this.#counts.isDocument) {
      return {
        kind: 'failed',
        reason: 'unrecognised_format',
        detail: 'one JSON document, not one record a line',
        counts,
      };
    }
    if (counts.broken > counts.records) {
      const detail = `${counts.broken} of ${counts.broken + counts.records} lines are no JSON object`;
      return { kind: 'failed', reason: 'unreadable', detail, counts };
    }
    if (!this.#format && (counts.records > 0 || bytes > LIMITS.unrecognisedBytes)) {
      const { oversized } = this.#splitter;
      const skipped = oversized === 0 ? '' : `; ${oversized} over ${LIMITS.recordBytes} bytes skipped`;
      return { kind: 'failed', reason: 'unrecognised_format', detail: this.#counts.describeKinds() + skipped, counts };
    }
    return { kind: 'read', facts: this.#facts.facts(this.#format?.agentKind ?? 'unknown'), counts, evidence };
  }
}

function openEvidence({ evidenceTokens, mode }: ReadOptions): EvidenceCollector {
  if (evidenceTokens === null) return new NoEvidence();
  return mode === 'middle' ? new MiddleEvidence(evidenceTokens) : new TieredEvidence(evidenceTokens);
}

function kindOf(record: JsonObject): string {
  return asText(record['type']) ?? asText(record['record_type']) ?? '';
}

function payloadKindOf(record: JsonObject): string | undefined {
  const payload = record['payload'];
  const kind = record['type'];
  if (kind === 'system') return asText(record['subtype']) ?? undefined;
  if (!isObject(payload)) return undefined;
  return kind === 'response_item' || kind === 'event_msg' ? (asText(payload['type']) ?? undefined) : undefined;
}
