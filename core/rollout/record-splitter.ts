import { MAX_RUN_BYTES, RecordBuffer } from './record-buffer.ts';

/**
 * Cuts a byte stream into records at LF bytes only: U+2028 and its like never split (user case D11). A short record that lies
 * in one chunk is handed on without a copy. Long data in strings is left out as it passes by (`RecordBuffer`); a record that is
 * over the limit even so is counted and passed over without being kept.
 */
export interface RecordSink {
  /** One non-empty record without its line end. The bytes are only valid during the call. `ended`: a line end followed. */
  record(bytes: Uint8Array, from: number, to: number, ended: boolean): void;
}

const LF = 0x0a;

export class RecordSplitter {
  readonly #sink: RecordSink;
  readonly #maxRecordBytes: number;
  /** The start of a record whose end has not come yet. */
  readonly #held = new RecordBuffer();
  #skipping = false;
  #first = true;
  #bytes = 0;
  #oversized = 0;

  constructor(sink: RecordSink, maxRecordBytes: number) {
    this.#sink = sink;
    this.#maxRecordBytes = maxRecordBytes;
  }

  /** Bytes seen so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Records over the limit so far. */
  get oversized(): number {
    return this.#oversized;
  }

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    let from = 0;
    for (let end = chunk.indexOf(LF, from); end >= 0; end = chunk.indexOf(LF, from)) {
      const isOpen = this.#held.length > 0 || this.#skipping;
      if (!isOpen && end - from <= MAX_RUN_BYTES) this.#emit(chunk, from, end, true);
      else this.#endHeld(chunk.subarray(from, end));
      from = end + 1;
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
  }

  /** The stream is over: what is left is a record without a line end. */
  end(): void {
    if (this.#skipping) this.#oversized++;
    else if (this.#held.length > 0) this.#emitHeld(false);
    this.#skipping = false;
  }

  #hold(part: Uint8Array): void {
    if (this.#skipping) return;
    this.#held.append(part);
    if (this.#held.length <= this.#maxRecordBytes) return;
    this.#held.clear();
    this.#skipping = true;
  }

  #endHeld(part: Uint8Array): void {
    this.#hold(part);
    if (!this.#skipping) {
      this.#emitHeld(true);
      return;
    }
    this.#skipping = false;
    this.#oversized++;
  }

  #emitHeld(ended: boolean): void {
    const record = this.#held.take();
    this.#emit(record, 0, record.length, ended);
  }

  #emit(bytes: Uint8Array, start: number, end: number, ended: boolean): void {
    let from = start;
    let to = end;
    if (this.#first && bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf) from += 3;
    this.#first = false;
    while (from < to && isSpace(bytes[from])) from++;
    while (to > from && isSpace(bytes[to - 1])) to--;
    if (from === to) return;
    if (to - from > this.#maxRecordBytes) this.#oversized++;
    else this.#sink.record(bytes, from, to, ended);
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0d || byte === 0x09;
}
