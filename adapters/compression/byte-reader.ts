/** Reads a stream of chunks by exact counts of bytes. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #held: Uint8Array = new Uint8Array();

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next bytes without taking them: `count`, or fewer where the stream ends. */
  async peek(count: number): Promise<Uint8Array> {
    const parts = [this.#held];
    let length = this.#held.length;
    while (length < count) {
      const next = await this.#chunks.next();
      if (next.done === true) break;
      parts.push(next.value);
      length += next.value.length;
    }
    if (parts.length > 1) this.#held = Buffer.concat(parts, length);
    return this.#held.subarray(0, count);
  }

  /** Takes the next bytes: `count`, or fewer where the stream ends. */
  async take(count: number): Promise<Uint8Array> {
    const bytes = await this.peek(count);
    this.#held = this.#held.subarray(bytes.length);
    return bytes;
  }

  /** All that is left, in chunks of any size. */
  async *rest(): AsyncGenerator<Uint8Array> {
    try {
      if (this.#held.length > 0) yield this.#held;
      this.#held = new Uint8Array();
      for (let next = await this.#chunks.next(); next.done !== true; next = await this.#chunks.next()) yield next.value;
    } finally {
      await this.close();
    }
  }

  /** Lets the source end its own work. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}
