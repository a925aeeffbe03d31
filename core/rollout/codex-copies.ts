/** Lines that a resume or fork copied from another thread carry the time of copying, all within an instant. */
const COPY_BLOCK_MS = 2_000;
/** Between two lines of one block, however long it is. */
const COPY_GAP_MS = 250;

/**
 * Tells the lines that were copied from another thread (FORMAT.md 3.2, user case D19). They stand at the start, and carry
 * either their old times or the time of copying. Lines without a time belong to what stands around them.
 */
export class CopiedBlock {
  #untilMs: number | undefined;

  /** A line that belongs to another thread, or that tells of a fork: what follows was copied. */
  open(timeMs: number | undefined): void {
    if (timeMs !== undefined) this.#untilMs = timeMs + COPY_BLOCK_MS;
  }

  /** Whether the line of this time still belongs to the block. The first that does not closes it for good. */
  holds(timeMs: number | undefined): boolean {
    if (this.#untilMs === undefined) return false;
    if (timeMs === undefined) return true;
    if (timeMs > this.#untilMs) {
      this.#untilMs = undefined;
      return false;
    }
    this.#untilMs = Math.max(this.#untilMs, timeMs + COPY_GAP_MS);
    return true;
  }
}
