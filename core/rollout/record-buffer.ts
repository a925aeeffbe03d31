import { encodeUtf8 } from '../text.ts';

/** A longer run of base64 in a string is an image or other data: nothing that anybody said. */
export const MAX_RUN_BYTES = 65_536;

const QUOTE = 0x22;
const BACK_SLASH = 0x5c;
const SLASH = 0x2f;
const IS_BASE64 = markBase64();
/** Room for a marker and a back slash. */
const SPARE_BYTES = 64;
/** A buffer that grew over this is let go after its record. */
const KEPT_BYTES = 1_048_576;

/**
 * Puts a record together from parts, without the data that may lie in it: where a JSON string runs on as base64 for more than
 * `MAX_RUN_BYTES`, a marker takes the place of the run while it passes by, so it is never held (user case D1). The result does
 * not depend on how the record was cut, and JSON stays JSON. Slashes may be escaped; any other escape ends a run.
 */
export class RecordBuffer {
  #bytes: Uint8Array = new Uint8Array(0);
  #length = 0;
  /** The record is long enough for a run; before that it is copied as it is. */
  #scanning = false;
  #inString = false;
  /** A back slash came; it is put down with the byte behind it. */
  #escaped = false;
  #runBytes = 0;
  /** Where the run starts in the buffer. */
  #runStart = 0;

  /** Bytes that are held. */
  get length(): number {
    return this.#length;
  }

  append(part: Uint8Array): void {
    this.#reserve(part.length + SPARE_BYTES);
    if (!this.#scanning && this.#length + part.length <= MAX_RUN_BYTES) {
      this.#bytes.set(part, this.#length);
      this.#length += part.length;
      return;
    }
    if (!this.#scanning) {
      this.#scanning = true;
      const start = this.#bytes.slice(0, this.#length);
      this.#length = 0;
      this.#scan(start);
    }
    this.#scan(part);
  }

  /** The whole record, which is then forgotten. The bytes are only valid until the next part is appended. */
  take(): Uint8Array {
    this.#endRun();
    if (this.#escaped) this.#put(BACK_SLASH);
    const taken = this.#bytes.subarray(0, this.#length);
    this.clear();
    return taken;
  }

  /** Forgets what is held. */
  clear(): void {
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = new Uint8Array(0);
    this.#length = 0;
    this.#scanning = false;
    this.#inString = false;
    this.#escaped = false;
    this.#runBytes = 0;
  }

  #scan(part: Uint8Array): void {
    for (let at = 0; at < part.length; at++) {
      const byte = part[at] ?? 0;
      if (!this.#inString) {
        this.#inString = byte === QUOTE;
        this.#put(byte);
      } else if (this.#escaped) this.#addEscape(byte);
      else if (IS_BASE64[byte] === 1) this.#addToRun(byte);
      else if (byte === BACK_SLASH) this.#escaped = true;
      else {
        this.#endRun();
        this.#inString = byte !== QUOTE;
        this.#put(byte);
      }
    }
  }

  #addEscape(byte: number): void {
    this.#escaped = false;
    if (byte === SLASH) {
      this.#addToRun(BACK_SLASH);
      this.#addToRun(SLASH);
      return;
    }
    this.#endRun();
    this.#put(BACK_SLASH);
    this.#put(byte);
  }

  #addToRun(byte: number): void {
    if (this.#runBytes === 0) this.#runStart = this.#length;
    this.#runBytes++;
    if (this.#runBytes <= MAX_RUN_BYTES) this.#put(byte);
    else this.#length = this.#runStart;
  }

  #endRun(): void {
    if (this.#runBytes > MAX_RUN_BYTES) {
      for (const byte of encodeUtf8(`[${this.#runBytes} bytes omitted]`)) this.#put(byte);
    }
    this.#runBytes = 0;
  }

  #put(byte: number): void {
    this.#bytes[this.#length++] = byte;
  }

  #reserve(more: number): void {
    const wanted = this.#length + more;
    if (wanted <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(wanted, 2 * this.#bytes.length));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

/** Both alphabets of base64, and its padding. */
function markBase64(): Uint8Array {
  const marks = new Uint8Array(256);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=';
  for (const byte of encodeUtf8(alphabet)) marks[byte] = 1;
  return marks;
}
