import { decodeUtf8 } from '../text.ts';
import { type JsonObject, parseJson, setOwn } from './json-value.ts';
import { MAX_RUN_BYTES, RecordBuffer } from './record-buffer.ts';
import { isSpace, ValueScan } from './value-scan.ts';

/** Takes what a JSON document is made of, in order. */
export interface DocumentSink {
  /** One element of a list of records. The bytes are only valid during the call. */
  element(bytes: Uint8Array, from: number, to: number): void;
  /** What an object holds beside its list. `begins`: the first of it, before the elements; else what came behind them. */
  head(fields: JsonObject, begins: boolean): void;
}

export interface DocumentLimits {
  /** Bytes of one element; a longer one is counted and passed over. */
  readonly elementBytes: number;
  /** Names of the lists of an object whose elements are records. */
  readonly lists: ReadonlySet<string>;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const LIST = 0x5b;
const END_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;
/** What stands beside the list is short; longer values (definitions of tools, say) are passed over. */
const MAX_FIELD_BYTES = 65_536;
const MAX_HEAD_BYTES = 1_048_576;

type Place = 'start' | 'list' | 'key' | 'colon' | 'value' | 'done';
type Purpose = 'element' | 'key' | 'field';

/**
 * Cuts a JSON document into the elements of its list without holding it: of a list at the top, or of the known lists of an
 * object at the top. Takes bytes in chunks of any size; keeps at most one element, without long data in its strings
 * (`RecordBuffer`, user case D1).
 */
export class DocumentSplitter {
  readonly #sink: DocumentSink;
  readonly #limits: DocumentLimits;
  readonly #scan = new ValueScan();
  #place: Place = 'start';
  #isObject = false;
  #purpose: Purpose | undefined;
  #key = '';
  #fields: Record<string, unknown> = {};
  #headBytes = 0;
  #begun = false;
  /** What came of a value whose end has not come yet, without long data in it. */
  readonly #held = new RecordBuffer();
  #skipping = false;
  #oversized = 0;

  constructor(sink: DocumentSink, limits: DocumentLimits) {
    this.#sink = sink;
    this.#limits = limits;
  }

  /** Elements over the limit so far. */
  get oversized(): number {
    return this.#oversized;
  }

  /** The document is over; what follows it is none of it. */
  get done(): boolean {
    return this.#place === 'done';
  }

  /** @returns how many bytes were taken; fewer than given where the document ended among them */
  push(chunk: Uint8Array): number {
    let at = 0;
    while (at < chunk.length && !this.done) {
      if (this.#purpose !== undefined) at = this.#goOn(chunk, at);
      else {
        const byte = chunk[at] ?? 0;
        if (isSpace(byte) || byte === COMMA) at++;
        else if (this.#takesMark(byte)) at++;
        else if (!this.done) this.#begin();
      }
    }
    return at;
  }

  /** The stream is over. @returns true when the document was cut in the middle */
  end(): boolean {
    const torn = this.#place !== 'done' && this.#place !== 'start';
    if (torn && this.#isObject) this.#tellHead();
    if (this.#skipping) this.#oversized++;
    this.#place = 'done';
    return torn;
  }

  /** Takes a mark of the document itself. @returns false where a value begins */
  #takesMark(byte: number): boolean {
    switch (this.#place) {
      case 'start':
        this.#isObject = byte === OPEN;
        if (byte === OPEN || byte === LIST) this.#place = this.#isObject ? 'key' : 'list';
        return true; // anything else is the byte order mark
      case 'list':
        if (byte !== END_LIST) return false;
        this.#place = this.#isObject ? 'key' : 'done';
        return true;
      case 'key':
        if (byte === QUOTE) return false;
        this.#tellHead();
        this.#place = 'done'; // its end, or a place where it is broken: what follows is read as lines
        return byte === CLOSE;
      case 'colon':
        if (byte !== COLON) return false;
        this.#place = 'value';
        return true;
      default:
        return byte === LIST && this.#entersList();
    }
  }

  #entersList(): boolean {
    if (!this.#limits.lists.has(this.#key)) return false;
    this.#tellHead();
    this.#place = 'list';
    return true;
  }

  #begin(): void {
    this.#purpose = this.#place === 'list' ? 'element' : this.#place === 'key' ? 'key' : 'field';
    this.#scan.reset();
  }

  #goOn(chunk: Uint8Array, from: number): number {
    const { end, whole } = this.#scan.push(chunk, from);
    if (!whole) {
      this.#hold(chunk.subarray(from, end));
      return end;
    }
    const isOpen = this.#held.length > 0 || this.#skipping;
    if (!isOpen && end - from <= MAX_RUN_BYTES) this.#finish(chunk, from, end);
    else {
      this.#hold(chunk.subarray(from, end));
      const value = this.#held.take();
      this.#finish(value, 0, value.length);
    }
    return end;
  }

  #finish(bytes: Uint8Array, from: number, to: number): void {
    const purpose = this.#purpose;
    const skipped = this.#skipping || to - from > this.#limit();
    this.#purpose = undefined;
    this.#skipping = false;
    if (purpose === 'element') {
      if (skipped) this.#oversized++;
      else this.#sink.element(bytes, from, to);
    } else if (purpose === 'key') {
      const key = skipped ? undefined : parseJson(decodeUtf8(bytes.subarray(from, to)));
      this.#key = typeof key === 'string' ? key : '';
      this.#place = 'colon';
    } else {
      this.#place = 'key';
      if (!skipped) this.#keepField(decodeUtf8(bytes.subarray(from, to)));
    }
  }

  #keepField(json: string): void {
    const value = parseJson(json);
    this.#headBytes += this.#key.length + json.length;
    if (value === undefined || this.#headBytes > MAX_HEAD_BYTES) return;
    setOwn(this.#fields, this.#key, value);
  }

  #tellHead(): void {
    const fields = this.#fields;
    this.#fields = {};
    const begins = !this.#begun;
    this.#begun = true;
    if (begins || Object.keys(fields).length > 0) this.#sink.head(fields, begins);
  }

  #limit(): number {
    return this.#purpose === 'element' ? this.#limits.elementBytes : MAX_FIELD_BYTES;
  }

  #hold(part: Uint8Array): void {
    if (this.#skipping) return;
    this.#held.append(part); // a copy: the caller may use its buffer again
    if (this.#held.length <= this.#limit()) return;
    this.#held.clear();
    this.#skipping = true;
  }
}
