import { LIMITS } from '../settings.ts';
import { decodeLatin1, decodeUtf8, decodeUtf8Strict } from '../text.ts';
import { parseTime } from '../time.ts';
import { type EvidenceCollector, NoEvidence, TieredEvidence } from './evidence-collector.ts';
import { FactsCollector } from './facts-collector.ts';
import type { FormatReader, RecordPlace, RolloutFormat } from './format-reader.ts';
import { FORMATS, RECORD_LISTS } from './formats.ts';
import { mayBeGlued } from './glued-records.ts';
import { asList, asText, isObject, type JsonObject, parseJson, parseRecords } from './json-value.ts';
import { MiddleEvidence } from './middle-evidence.ts';
import { RecordCounts } from './record-counts.ts';
import { RecordHead } from './record-head.ts';
import { redact } from './redact.ts';
import type { RolloutCounts, RolloutReading } from './rollout.ts';
import { RolloutSplitter } from './rollout-splitter.ts';
import { holdsList, takeApart } from './take-apart.ts';

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

/** How much of the file's start is looked at to explain why nothing could be read. */
const START_BYTES = 16;
const NO_UTF16 = 'the file is UTF-16, save it as UTF-8';

/** How much may be kept while no record has told the format. */
const MAX_UNPLACED_RECORDS = 256;
const MAX_UNPLACED_BYTES = LIMITS.recordBytes;

const LIST = 0x5b;

type Unplaced =
  | { readonly kind: 'record'; readonly record: JsonObject; readonly place: RecordPlace }
  | { readonly kind: 'head'; readonly fields: JsonObject; readonly begins: boolean };

class RolloutRun {
  readonly #splitter = new RolloutSplitter(this, { recordBytes: LIMITS.recordBytes, lists: RECORD_LISTS });
  readonly #head = new RecordHead();
  readonly #counts = new RecordCounts();
  readonly #evidence: EvidenceCollector;
  readonly #facts: FactsCollector;
  #format: RolloutFormat | undefined;
  #lists = RECORD_LISTS;
  #reader: FormatReader | undefined;
  /** Records before the first one that told the format. */
  #unplaced: Unplaced[] = [];
  #unplacedBytes = 0;
  /** Where the file begins in the middle of a record, the inside of that record looks like one of another format. */
  #isDoubtful = false;
  readonly #start: number[] = [];

  constructor(options: ReadOptions) {
    this.#evidence = openEvidence(options);
    this.#facts = new FactsCollector(this.#evidence);
  }

  get isTooLarge(): boolean {
    return this.#splitter.bytes > LIMITS.rolloutBytes;
  }

  push(chunk: Uint8Array): void {
    for (let at = 0; this.#start.length < START_BYTES && at < chunk.length; at++) this.#start.push(chunk[at] ?? 0);
    this.#splitter.push(chunk);
  }

  /** A line. */
  record(bytes: Uint8Array, from: number, to: number, ended: boolean): void {
    const reader = this.#reader;
    if (!reader) {
      this.#parse(bytes, from, to, ended);
      return;
    }
    const head = this.#head;
    head.scan(bytes, from, to);
    // Of a line that was cut off the head may be whole; only the parser tells.
    const plan = head.sure && ended ? reader.skim(head) : 'read';
    if (plan === 'read' || mayBeGlued(bytes, from, to)) {
      this.#parse(bytes, from, to, ended, head.timeMs);
      return;
    }
    this.#facts.at(head.timeMs);
    this.#counts.add(head.type ?? '', head.payloadType, plan === 'drop');
    if (plan === 'defer') reader.defer(head, bytes.subarray(from, to));
  }

  /** An element of a document. */
  element(bytes: Uint8Array, from: number, to: number): void {
    if (!this.#reader) this.#unplacedBytes += to - from;
    this.#takeElement(parseJson(this.#decode(bytes.subarray(from, to), 'element')));
  }

  /** What an object holds beside its list. */
  head(fields: JsonObject, begins: boolean): void {
    const format = this.#format ?? FORMATS.find((each) => each.recognisesHead?.(fields) === true);
    if (!this.#reader && format) this.#open(format);
    if (!this.#reader) {
      this.#wait({ kind: 'head', fields, begins });
      return;
    }
    const kept = this.#reader.readHead?.(fields, begins) ?? false;
    if (begins) this.#counts.add(DOCUMENT, undefined, !kept);
  }

  #parse(bytes: Uint8Array, from: number, to: number, ended: boolean, timeMs?: number): void {
    if (!this.#reader) this.#unplacedBytes += to - from;
    const line = this.#decode(bytes.subarray(from, to), 'line');
    if (bytes[from] === LIST) {
      this.#parseList(line, ended);
      return;
    }
    const { records, whole } = parseRecords(line);
    this.#isDoubtful = !whole;
    for (const record of records) this.#take(record, 'line', records.length === 1 ? timeMs : undefined);
    this.#isDoubtful = false;
    if (!whole) this.#counts.addBroken(line, !ended);
  }

  /** A line that is a list: of a trace, its objects are records (V-02). */
  #parseList(line: string, ended: boolean): void {
    const list = parseJson(line);
    const isLoose = this.#format === undefined || this.#format.isLoose === true;
    const objects = isLoose ? asList(list).filter(isObject) : [];
    for (const record of objects) this.#take(record, 'element');
    if (objects.length === 0) this.#counts.addBroken(line, !ended && list === undefined);
  }

  #takeElement(value: unknown): void {
    if (isObject(value)) this.#take(value, 'element');
    else this.#counts.addBroken('{', false);
  }

  /** Invalid UTF-8 is replaced (user case D8); a loose format takes it for Latin-1 (V-01). */
  #decode(bytes: Uint8Array, place: RecordPlace): string {
    const text = decodeUtf8(bytes);
    if (!text.includes('\ufffd')) return text;
    const record = this.#format ? undefined : parseJson(text);
    const format = this.#format ?? (isObject(record) ? formatOf(record, place) : undefined);
    return format === undefined || format.isLoose === true ? (decodeUtf8Strict(bytes) ?? decodeLatin1(bytes)) : text;
  }

  /** @param knownMs its time, where the head told it */
  #take(record: JsonObject, place: RecordPlace, knownMs?: number): void {
    const reader = this.#reader ?? (this.#isDoubtful ? undefined : this.#recognise(record, place));
    if ((!reader || this.#format?.lists) && holdsList(record, this.#lists)) {
      for (const piece of takeApart(record, this.#lists)) {
        if (piece.kind === 'head') this.head(piece.fields, piece.begins);
        else this.#takeElement(piece.element);
      }
      return;
    }
    if (!reader) {
      this.#wait({ kind: 'record', record, place });
      return;
    }
    const timeMs = knownMs ?? parseTime(asText(record['timestamp']) ?? '');
    this.#facts.at(timeMs);
    const kept = reader.read(record, timeMs);
    this.#counts.add(kindOf(record), payloadKindOf(record), !kept);
  }

  #wait(unplaced: Unplaced): void {
    const fits = this.#unplaced.length < MAX_UNPLACED_RECORDS && this.#unplacedBytes <= MAX_UNPLACED_BYTES;
    if (fits) this.#unplaced.push(unplaced);
    else this.#countUnplaced(unplaced);
  }

  #recognise(record: JsonObject, place: RecordPlace): FormatReader | undefined {
    const format = formatOf(record, place);
    return format && this.#open(format);
  }

  /** No whole line told the format: then a broken one may, all the same. */
  #recogniseDoubtful(): void {
    for (const each of this.#unplaced) {
      if (each.kind === 'record' && this.#recognise(each.record, each.place)) return;
    }
  }

  #open(format: RolloutFormat): FormatReader {
    this.#format = format;
    this.#lists = new Set(format.lists);
    this.#reader = format.open(this.#facts);
    const waiting = this.#unplaced;
    this.#unplaced = [];
    for (const earlier of waiting) {
      if (earlier.kind === 'head') this.head(earlier.fields, earlier.begins);
      else this.#take(earlier.record, earlier.place);
    }
    return this.#reader;
  }

  #countUnplaced(unplaced: Unplaced): void {
    if (unplaced.kind === 'record') this.#counts.add(kindOf(unplaced.record), payloadKindOf(unplaced.record), true);
    else if (unplaced.begins) this.#counts.add(DOCUMENT, undefined, true);
  }

  finish(): RolloutReading {
    if (this.#splitter.end()) this.#counts.addTornTail();
    if (!this.#reader) this.#recogniseDoubtful();
    this.#reader?.finish();
    for (const unplaced of this.#unplaced) this.#countUnplaced(unplaced);
    const { evidence, redactions, shares } = this.#evidence.finish();
    const { bytes, oversized } = this.#splitter;
    const counts = this.#counts.finish({ bytes, oversized, redactions }, this.#format?.isLoose);
    const failure = this.#failure(counts);
    if (failure) return { kind: 'failed', ...failure, counts };
    const facts = this.#facts.facts(this.#format?.agentKind ?? 'unknown');
    return { kind: 'read', facts, counts, evidence, shares };
  }

  #failure(counts: RolloutCounts): Pick<Extract<RolloutReading, { kind: 'failed' }>, 'reason' | 'detail'> | undefined {
    if (this.isTooLarge) return { reason: 'too_large', detail: `over the limit of ${LIMITS.rolloutBytes} bytes` };
    const keys = this.#format ? undefined : describeDocument(this.#unplaced);
    if (keys !== undefined)
      return { reason: 'unrecognised_format', detail: `${this.#counts.describeKinds()}; ${keys}` };
    if (counts.broken > counts.records) {
      const detail = `${counts.broken} of ${counts.broken + counts.records} lines are no JSON object`;
      return { reason: 'unreadable', detail: isUtf16(this.#start) ? `${detail}: ${NO_UTF16}` : detail };
    }
    if (this.#format || (counts.records === 0 && counts.bytes <= LIMITS.unrecognisedBytes)) return undefined;
    const skipped = counts.oversized === 0 ? '' : `; ${counts.oversized} over ${LIMITS.recordBytes} bytes skipped`;
    return { reason: 'unrecognised_format', detail: this.#counts.describeKinds() + skipped };
  }
}

/** Its byte order mark, or a zero in every second byte: a shell of Windows writes so. */
function isUtf16(start: readonly number[]): boolean {
  const [first, second] = start;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  const zeros = (rest: number): number => start.filter((byte, at) => byte === 0 && at % 2 === rest).length;
  return start.length === START_BYTES && Math.max(zeros(0), zeros(1)) === START_BYTES / 2 && zeros(0) !== zeros(1);
}

function formatOf(record: JsonObject, place: RecordPlace): RolloutFormat | undefined {
  return FORMATS.find((format) => format.recognises(record, place));
}

/** How an object that holds a whole session is counted. */
const DOCUMENT = 'document';
const SHOWN_KEYS = 8;

/** The keys of a document that nobody knows. */
function describeDocument(unplaced: readonly Unplaced[]): string | undefined {
  const heads = unplaced.flatMap((each) => (each.kind === 'head' ? [each.fields] : []));
  if (heads.length === 0) return undefined;
  const keys = new Set(
    heads.flatMap((fields) => Object.keys(fields)).filter((key) => /^[A-Za-z_$][\w$]{0,29}$/.test(key)),
  );
  return redact(`a document with the keys: ${[...keys].slice(0, SHOWN_KEYS).join(', ') || '(none)'}`);
}

function openEvidence({ evidenceTokens, mode }: ReadOptions): EvidenceCollector {
  if (evidenceTokens === null) return new NoEvidence();
  return mode === 'middle' ? new MiddleEvidence(evidenceTokens) : new TieredEvidence(evidenceTokens);
}

function kindOf(record: JsonObject): string {
  return asText(record['type']) ?? asText(record['record_type']) ?? asText(record['role']) ?? '';
}

function payloadKindOf(record: JsonObject): string | undefined {
  const payload = record['payload'];
  const kind = record['type'];
  if (kind === 'system') return asText(record['subtype']) ?? undefined;
  if (!isObject(payload)) return undefined;
  return kind === 'response_item' || kind === 'event_msg' ? (asText(payload['type']) ?? undefined) : undefined;
}
