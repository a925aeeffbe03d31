const QUOTE = 0x22;
const COMMA = 0x2c;
const LIST = 0x5b;
const BACK_SLASH = 0x5c;
const END_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Finds the end of one JSON value, by its quotes and brackets alone. */
export class ValueScan {
  #depth = 0;
  #inText = false;
  #escaped = false;
  #begun = false;
  #plain = false;

  reset(): void {
    this.#depth = 0;
    this.#inText = false;
    this.#escaped = false;
    this.#begun = false;
    this.#plain = false;
  }

  /** @returns where the value ends, or how far it was looked at */
  push(bytes: Uint8Array, from: number): { readonly end: number; readonly whole: boolean } {
    let at = from;
    while (at < bytes.length) {
      if (this.#inText) {
        at = this.#text(bytes, at);
        if (!this.#inText && this.#depth === 0) return { end: at, whole: true };
        continue;
      }
      const byte = bytes[at] ?? 0;
      if (this.#plain && isEnd(byte)) return { end: at, whole: true };
      at++;
      if (this.#plain) continue;
      if (byte === QUOTE) this.#inText = true;
      else if (byte === OPEN || byte === LIST) this.#depth++;
      else if ((byte === CLOSE || byte === END_LIST) && this.#depth > 0) {
        if (--this.#depth === 0) return { end: at, whole: true };
      } else if (!this.#begun) this.#plain = true;
      this.#begun = true;
    }
    return { end: at, whole: false };
  }

  /** Inside a text. @returns behind its quote, or the end of the bytes */
  #text(bytes: Uint8Array, from: number): number {
    let at = from;
    if (this.#escaped && at < bytes.length) {
      this.#escaped = false;
      at++;
    }
    while (at < bytes.length) {
      const byte = bytes[at++];
      if (byte === QUOTE) {
        this.#inText = false;
        return at;
      }
      if (byte !== BACK_SLASH) continue;
      if (at === bytes.length) this.#escaped = true;
      else at++;
    }
    return at;
  }
}

/** What may follow a number or a word. */
function isEnd(byte: number): boolean {
  return byte === COMMA || byte === END_LIST || byte === CLOSE || isSpace(byte);
}

/** White space between the marks of JSON. */
export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
