import { decodeUtf8, encodeUtf8 } from '../text.ts';
import { parseTime } from '../time.ts';
import { parseJson } from './json-value.ts';

/**
 * What the first bytes of a record tell, read without decoding or parsing the record: enough to count it and, for most
 * records, to pass over it. One object is used again for every record.
 *
 * The scan is careful rather than clever: at the first thing it does not expect it stops and says `sure = false`, and the
 * record is parsed.
 */
const QUOTE = 0x22;
const BACK_SLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const LIST = 0x5b;
const COLON = 0x3a;
const COMMA = 0x2c;
const MAX_KEYS = 12;
const MAX_KEY_BYTES = 40;
const MAX_SKIPPED_BYTES = 512;
/** How nearly every record of the envelope format begins; the time is 24 bytes. */
const TIME_KEY = encodeUtf8('{"timestamp":"');
const TIME_BYTES = 24;
const TYPE_KEY = encodeUtf8('","type":"');
const PAYLOAD_TYPE_KEY = encodeUtf8(',"payload":{"type":"');

export class RecordHead {
  /** False when the record must be parsed to know its kind. */
  sure = false;
  /** ms since the epoch. */
  timeMs: number | undefined;
  type: string | undefined;
  payloadType: string | undefined;
  /** Of a call: the tool, and the namespace where it follows the name. */
  name: string | undefined;
  namespace: string | undefined;
  /** Of a turn context. */
  cwd: string | undefined;

  /** Of the oldest format's markers, which have nothing else. */
  #recordType: string | undefined;
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;
  #to = 0;
  readonly #names = new NameCache();

  /** Reads the head of `bytes[from..to)`. */
  scan(bytes: Uint8Array, from: number, to: number): void {
    this.#reset(bytes, from, to);
    if (bytes[from] !== OPEN || bytes[to - 1] !== CLOSE) return;
    this.#at++;
    if (this.#usualStart(from)) {
      this.sure = this.#usualPayload() || this.#next() === CLOSE;
      if (this.sure) return;
    }
    for (let keys = 0; keys < MAX_KEYS; keys++) {
      const key = this.#key();
      if (key === undefined) return;
      if (key === 'payload') {
        this.sure = this.type !== undefined && this.timeMs !== undefined && this.#payload();
        return;
      }
      if (!this.#value(key, false)) {
        // a structure: of a record without a payload the type is all that is needed
        this.sure = this.type !== undefined;
        return;
      }
      if (this.#next() === CLOSE) {
        this.type ??= this.#recordType;
        this.sure = this.type !== undefined;
        return;
      }
    }
  }

  /** Reads time and type where they stand as they nearly always do. @returns false, with nothing read, where they do not */
  #usualStart(from: number): boolean {
    const bytes = this.#bytes;
    const timeAt = from + TIME_KEY.length;
    const typeAt = timeAt + TIME_BYTES + TYPE_KEY.length;
    if (typeAt >= this.#to || !startsWith(bytes, from, TIME_KEY)) return false;
    if (!startsWith(bytes, timeAt + TIME_BYTES, TYPE_KEY)) return false;
    const end = this.#nameEnd(typeAt);
    if (end === undefined) return false;
    this.timeMs = readTime(bytes, timeAt, timeAt + TIME_BYTES);
    if (this.timeMs === undefined) return false;
    this.type = this.#names.read(bytes, typeAt, end);
    this.#at = end + 1;
    return true;
  }

  /** Reads the payload's type where it stands first and is all that is needed. @returns false, with nothing read, elsewhere */
  #usualPayload(): boolean {
    if (this.type !== 'response_item' && this.type !== 'event_msg') return false;
    if (!startsWith(this.#bytes, this.#at, PAYLOAD_TYPE_KEY)) return false;
    const from = this.#at + PAYLOAD_TYPE_KEY.length;
    const end = this.#nameEnd(from);
    if (end === undefined) return false;
    this.payloadType = this.#names.read(this.#bytes, from, end);
    if (this.#isEnough('type')) return true;
    this.payloadType = undefined;
    return false;
  }

  /** Where the plain text that starts at `from` ends, when it is a short one. */
  #nameEnd(from: number): number | undefined {
    const limit = Math.min(this.#to, from + MAX_KEY_BYTES);
    for (let end = from; end < limit; end++) {
      if (this.#bytes[end] === QUOTE) return end;
      if (this.#bytes[end] === BACK_SLASH) return undefined;
    }
    return undefined;
  }

  #reset(bytes: Uint8Array, from: number, to: number): void {
    this.#bytes = bytes;
    this.#at = from;
    this.#to = to;
    this.sure = false;
    this.timeMs = undefined;
    this.type = undefined;
    this.payloadType = undefined;
    this.name = undefined;
    this.namespace = undefined;
    this.cwd = undefined;
    this.#recordType = undefined;
  }

  /** Reads on into the payload, as far as needed. @returns whether its kind is known */
  #payload(): boolean {
    const typed = this.type === 'response_item' || this.type === 'event_msg';
    const wantsCwd = this.type === 'turn_context';
    if (this.#bytes[this.#at] !== OPEN) return false;
    if (!typed && !wantsCwd) return true;
    this.#at++;
    for (let keys = 0; keys < MAX_KEYS; keys++) {
      const key = this.#key();
      if (key === undefined || !this.#value(key, true)) break;
      if (wantsCwd ? this.cwd !== undefined : this.#isEnough(key)) break;
      if (this.#next() === CLOSE) break;
    }
    return wantsCwd ? this.cwd !== undefined : this.payloadType !== undefined;
  }

  #isEnough(key: string): boolean {
    if (this.payloadType === undefined) return false;
    const call = this.payloadType === 'function_call' || this.payloadType === 'custom_tool_call';
    return !call || (this.name !== undefined && key !== 'name');
  }

  /** A key and its colon; undefined where none stands here. */
  #key(): string | undefined {
    this.#space();
    if (this.#bytes[this.#at] !== QUOTE) return undefined;
    const end = this.#bytes.indexOf(QUOTE, this.#at + 1);
    if (end < 0 || end >= this.#to || end - this.#at > MAX_KEY_BYTES) return undefined;
    const key = this.#names.read(this.#bytes, this.#at + 1, end);
    this.#at = end + 1;
    this.#space();
    if (this.#bytes[this.#at] !== COLON) return undefined;
    this.#at++;
    this.#space();
    return key;
  }

  /** Passes over a plain value, keeping it where its key is one that matters. @returns false before a structure, or when too long */
  #value(key: string, inPayload: boolean): boolean {
    const first = this.#bytes[this.#at];
    if (first === OPEN || first === LIST || first === undefined) return false;
    if (first !== QUOTE) {
      while (this.#at < this.#to && this.#bytes[this.#at] !== COMMA && this.#bytes[this.#at] !== CLOSE) this.#at++;
      return true;
    }
    const from = this.#at + 1;
    const limit = Math.min(this.#to, from + MAX_SKIPPED_BYTES);
    let end = from;
    let plain = true;
    while (end < limit && this.#bytes[end] !== QUOTE) {
      if (this.#bytes[end] === BACK_SLASH) {
        plain = false;
        end++;
      }
      end++;
    }
    if (end >= limit) return false;
    this.#at = end + 1;
    if (plain) this.#keep(key, inPayload, from, end);
    else if (key === 'cwd' && inPayload) this.cwd = this.#names.readEscaped(this.#bytes, from, end);
    // Escapes in a kind are for the parser; going on would take another key for it.
    else if (key === 'type') return false;
    return true;
  }

  #keep(key: string, inPayload: boolean, from: number, end: number): void {
    if (key === 'type') {
      const kind = this.#names.read(this.#bytes, from, end);
      if (inPayload) this.payloadType = kind;
      else this.type = kind;
    } else if (key === 'timestamp' && !inPayload) this.timeMs = readTime(this.#bytes, from, end);
    else if (key === 'name') this.name = this.#names.read(this.#bytes, from, end);
    else if (key === 'namespace') this.namespace = this.#names.read(this.#bytes, from, end);
    else if (key === 'cwd' && inPayload) this.cwd = this.#names.read(this.#bytes, from, end);
    else if (key === 'record_type' && !inPayload) this.#recordType = this.#names.read(this.#bytes, from, end);
  }

  #next(): number | undefined {
    this.#space();
    const mark = this.#bytes[this.#at];
    this.#at++;
    return mark === COMMA ? COMMA : CLOSE;
  }

  #space(): void {
    while (this.#bytes[this.#at] === 0x20) this.#at++;
  }
}

/** Strings that come again and again, found by their bytes so that they are decoded once. */
class NameCache {
  readonly #known = new Map<number, { readonly bytes: Uint8Array; readonly text: string }>();

  /** A text without escapes. */
  read(bytes: Uint8Array, from: number, to: number): string {
    return this.#find(bytes, from, to) ?? this.#add(bytes, from, to, decodeUtf8(bytes.subarray(from, to)));
  }

  /** A text with JSON escapes; undefined where they are none. */
  readEscaped(bytes: Uint8Array, from: number, to: number): string | undefined {
    const known = this.#find(bytes, from, to);
    if (known !== undefined) return known;
    const text = parseJson(`"${decodeUtf8(bytes.subarray(from, to))}"`);
    return typeof text === 'string' ? this.#add(bytes, from, to, text) : undefined;
  }

  #find(bytes: Uint8Array, from: number, to: number): string | undefined {
    const known = this.#known.get(hashOf(bytes, from, to));
    return known && isSame(known.bytes, bytes, from, to) ? known.text : undefined;
  }

  #add(bytes: Uint8Array, from: number, to: number, text: string): string {
    const hash = hashOf(bytes, from, to);
    if (this.#known.size < 512 && !this.#known.has(hash)) this.#known.set(hash, { bytes: bytes.slice(from, to), text });
    return text;
  }
}

function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = to - from;
  for (let at = from; at < to; at++) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
  return hash;
}

function startsWith(bytes: Uint8Array, from: number, start: Uint8Array): boolean {
  for (let at = 0; at < start.length; at++) if (bytes[from + at] !== start[at]) return false;
  return true;
}

function isSame(known: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (known.length !== to - from) return false;
  for (let at = 0; at < known.length; at++) if (known[at] !== bytes[from + at]) return false;
  return true;
}

/** The start of the day that was read last: records come in runs of one day. */
const lastDay = { digits: 0, startMs: 0 };

/** The usual form, `2026-01-02T03:04:05.678Z`, digit by digit; any other as text. */
function readTime(bytes: Uint8Array, from: number, to: number): number | undefined {
  if (to - from === 24 && bytes[to - 1] === 0x5a && bytes[from + 10] === 0x54 && bytes[from + 19] === 0x2e) {
    const hour = digits(bytes, from + 11, 2);
    const minute = digits(bytes, from + 14, 2);
    const second = digits(bytes, from + 17, 2);
    const dayMs = readDay(bytes, from);
    const timeMs = ((hour * 60 + minute) * 60 + second) * 1_000 + digits(bytes, from + 20, 3);
    if (hour < 24 && minute < 60 && second < 60 && dayMs + timeMs >= 0) return dayMs + timeMs;
  }
  return parseTime(decodeUtf8(bytes.subarray(from, to)));
}

/** Start of the day in ms; NaN where the digits are not surely a calendar day. */
function readDay(bytes: Uint8Array, from: number): number {
  const month = digits(bytes, from + 5, 2);
  const day = digits(bytes, from + 8, 2);
  const key = digits(bytes, from, 4) * 10_000 + month * 100 + day;
  if (key === lastDay.digits) return lastDay.startMs;
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= 28)) return Number.NaN;
  lastDay.digits = key;
  lastDay.startMs = Date.UTC(Math.trunc(key / 10_000), month - 1, day);
  return lastDay.startMs;
}

/** NaN where a byte is no digit: no range check lets it through. */
function digits(bytes: Uint8Array, from: number, count: number): number {
  let value = 0;
  for (let at = from; at < from + count; at++) {
    const digit = (bytes[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}
