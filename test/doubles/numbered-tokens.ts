import type { TokenSource } from '../../core/ports/token-source.ts';

/** UUIDs in version 4 form that count up from 1, so that tests can name them. */
export class NumberedTokens implements TokenSource {
  #count = 0;

  next(): string {
    this.#count += 1;
    return `00000000-0000-4000-8000-${String(this.#count).padStart(12, '0')}`;
  }
}
