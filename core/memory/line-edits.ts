import { isBlank } from '../text.ts';

/** Changes to single lines of a text, by number from 1; what is not named keeps its bytes. */
export class LineEdits {
  readonly #lines: readonly string[];
  readonly #changed = new Map<number, string | null>();

  constructor(text: string) {
    this.#lines = text.split('\n');
  }

  get isEmpty(): boolean {
    return this.#changed.size === 0;
  }

  /** Number of the last line. */
  get last(): number {
    return this.#lines.length;
  }

  /** The line as it was; '' beyond the end. */
  line(number: number): string {
    return this.#lines[number - 1] ?? '';
  }

  /** The line as it is to be; '' where it is dropped. */
  now(number: number): string {
    return this.#changed.has(number) ? (this.#changed.get(number) ?? '') : this.line(number);
  }

  set(number: number, text: string): void {
    if (text !== this.now(number)) this.#changed.set(number, text);
  }

  /** Removes `from` up to, not including, `to`. Blank lines behind it go as well where one stands before it. */
  drop(from: number, to: number): void {
    for (let number = from; number < to; number++) this.#changed.set(number, null);
  }

  isDropped(number: number): boolean {
    return this.#changed.get(number) === null;
  }

  render(): string {
    const kept: string[] = [];
    let afterDrop = false;
    for (let number = 1; number <= this.#lines.length; number++) {
      const text = this.#changed.has(number) ? this.#changed.get(number) : this.line(number);
      const blank = isBlank(this.line(number));
      if (text === null || text === undefined) {
        afterDrop = true;
        continue;
      }
      const doubled = afterDrop && blank && number < this.#lines.length && (kept.length === 0 || isBlank(kept.at(-1)));
      if (!blank) afterDrop = false;
      if (!doubled) kept.push(text);
    }
    return kept.join('\n');
  }
}
