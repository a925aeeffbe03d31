import { isSpace } from './value-scan.ts';

/** What a file is made of, told by its first bytes. */
export type FileShape = 'lines' | 'document';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACK_SLASH = 0x5c;
const LIST = 0x5b;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const LF = 0x0a;
const MAX_KEY_BYTES = 64;
/** A document whose list has not begun by then is taken for a line. */
const MAX_PROBED_BYTES = 65_536;
/** Keys of records: an object that begins with one of them is a line. */
const RECORD_KEYS: ReadonlySet<string> = new Set(['type', 'timestamp', 'record_type', 'payload', 'uuid', 'parentUuid']);

type State = 'start' | 'list' | 'key' | 'in_key' | 'colon' | 'value' | 'text' | 'broken_line';

/**
 * Tells a JSON document from one record a line, whatever the chunks are. A document is a list of objects, an object that
 * goes on over several lines, or an object on one line that holds one of the known lists.
 */
export class DocumentProbe {
  readonly #lists: ReadonlySet<string>;
  #state: State = 'start';
  #depth = 0;
  #escaped = false;
  #key = '';
  #bytes = 0;
  #keys = 0;

  /** @param lists names of the lists whose elements are records */
  constructor(lists: ReadonlySet<string>) {
    this.#lists = lists;
  }

  /** Looks at the next bytes. @returns undefined while it cannot be told */
  look(chunk: Uint8Array): FileShape | undefined {
    for (const byte of chunk) {
      const shape = this.#step(byte);
      if (shape !== undefined) return shape;
      if (++this.#bytes >= MAX_PROBED_BYTES) return 'lines';
    }
    return undefined;
  }

  #step(byte: number): FileShape | undefined {
    switch (this.#state) {
      case 'start':
        return this.#start(byte);
      case 'list':
        if (isSpace(byte)) return undefined;
        return byte === OPEN ? 'document' : 'lines';
      case 'in_key':
        return this.#inKey(byte);
      case 'text':
        return this.#inText(byte);
      case 'broken_line':
        if (isSpace(byte)) return undefined;
        return byte === OPEN ? 'lines' : 'document';
      default:
        return this.#betweenTexts(byte);
    }
  }

  #start(byte: number): FileShape | undefined {
    if (isSpace(byte) || byte === 0xef || byte === 0xbb || byte === 0xbf) return undefined;
    if (byte === LIST) this.#state = 'list';
    else if (byte === OPEN) this.#state = 'key';
    else return 'lines';
    return undefined;
  }

  #inKey(byte: number): FileShape | undefined {
    if (byte === QUOTE) {
      if (this.#keys++ === 0 && RECORD_KEYS.has(this.#key)) return 'lines';
      this.#state = 'colon';
    } else if (byte === BACK_SLASH || byte === LF || this.#key.length >= MAX_KEY_BYTES) return 'lines';
    else this.#key += String.fromCharCode(byte);
    return undefined;
  }

  #inText(byte: number): FileShape | undefined {
    if (byte === LF) return 'lines'; // no JSON text holds one: the line is broken
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACK_SLASH) this.#escaped = true;
    else if (byte === QUOTE) this.#state = 'value';
    return undefined;
  }

  #betweenTexts(byte: number): FileShape | undefined {
    if (byte === LF) {
      this.#state = 'broken_line';
      return undefined;
    }
    if (isSpace(byte)) return undefined;
    if (this.#state === 'key' && byte === QUOTE) {
      this.#key = '';
      this.#state = 'in_key';
      return undefined;
    }
    if (this.#state === 'colon') {
      if (byte !== COLON) return 'lines';
      this.#state = 'value';
      return undefined;
    }
    return this.#state === 'key' ? 'lines' : this.#inValue(byte);
  }

  #inValue(byte: number): FileShape | undefined {
    if (byte === QUOTE) this.#state = 'text';
    else if (byte === LIST && this.#depth === 0 && this.#lists.has(this.#key)) return 'document';
    else if (byte === OPEN || byte === LIST) this.#depth++;
    else if (byte === CLOSE || byte === 0x5d) {
      if (--this.#depth < 0) return 'lines';
    } else if (byte === COMMA && this.#depth === 0) this.#state = 'key';
    return undefined;
  }
}
