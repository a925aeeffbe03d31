/** Bytes of one block; a longer piece gets a block of its own. */
const BLOCK_BYTES = 262_144;

/**
 * Keeps copies of many small pieces of bytes in few blocks: thousands of separate buffers cost more than what they hold.
 * A block lives as long as one of its pieces.
 */
export class ByteArena {
  #block: Uint8Array = new Uint8Array(0);
  #used = 0;

  /** A copy of `bytes[from..to)`. */
  keep(bytes: Uint8Array, from: number, to: number): Uint8Array {
    const length = to - from;
    if (length > BLOCK_BYTES / 4) return bytes.slice(from, to);
    if (this.#used + length > this.#block.length) {
      this.#block = new Uint8Array(BLOCK_BYTES);
      this.#used = 0;
    }
    const kept = this.#block.subarray(this.#used, this.#used + length);
    kept.set(bytes.subarray(from, to));
    this.#used += length;
    return kept;
  }
}
