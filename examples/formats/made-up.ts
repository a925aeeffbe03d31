import { createHash } from 'node:crypto';

/**
 * Ids, pauses and blobs of a sample file, all derived from the session's key, so that the generator writes equal bytes
 * every time and on every machine.
 */
export class MadeUp {
  readonly #key: string;
  #drawn = 0;

  constructor(key: string) {
    this.#key = key;
  }

  /** Hex digits, a new series at each call. */
  hex(length: number): string {
    let out = '';
    while (out.length < length) {
      out += createHash('sha256')
        .update(`${this.#key}/${this.#drawn++}`)
        .digest('hex');
    }
    return out.slice(0, length);
  }

  /** A whole number of `from` (included) to `to` (not included). */
  between(from: number, to: number): number {
    return from + (Number.parseInt(this.hex(8), 16) % (to - from));
  }

  /** Letters and digits, as in call ids. */
  word(length: number): string {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
    return Array.from({ length }, () => letters[this.between(0, letters.length)]).join('');
  }

  /** Stands for the encrypted reasoning that hosted models send. */
  sealed(): string {
    return `gAAAAAB${this.word(96)}`;
  }

  /** UUID version 7 of a time in ms. */
  timeUuid(ms: number): string {
    const time = ms.toString(16).padStart(12, '0');
    const rest = this.hex(19);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(0, 3)}-a${rest.slice(3, 6)}-${rest.slice(6, 18)}`;
  }

  /** UUID version 4. */
  uuid(): string {
    const rest = this.hex(30);
    return `${rest.slice(0, 8)}-${rest.slice(8, 12)}-4${rest.slice(12, 15)}-b${rest.slice(15, 18)}-${rest.slice(18, 30)}`;
  }
}

/** The time in a sample file: goes forward by itself at every record. */
export class RecordClock {
  readonly #madeUp: MadeUp;
  #ms: number;

  constructor(startedAt: string, madeUp: MadeUp) {
    this.#ms = Date.parse(startedAt);
    this.#madeUp = madeUp;
  }

  get ms(): number {
    return this.#ms;
  }

  /** Goes forward by at least `from` and less than `to` ms. */
  pass(from: number, to: number): void {
    this.#ms += this.#madeUp.between(from, to);
  }

  /** Now, in the form that both agents write: UTC with milliseconds and `Z`. */
  stamp(): string {
    return new Date(this.#ms).toISOString();
  }
}

/** `YYYY-MM-DDTHH:MM:SS` in a time zone. */
export function localTime(ms: number, timezone: string): string {
  const parts = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'medium',
  }).format(new Date(ms));
  return parts.replace(' ', 'T');
}
