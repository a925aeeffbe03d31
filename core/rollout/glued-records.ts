const OPEN = 0x7b;
const CLOSE = 0x7d;
const QUOTE = 0x22;

/**
 * Whether a line may hold more than one record, as after a line end that was never written (FORMAT.md, oddity 1). Within one
 * record `}{"` can only stand at the end of a string, where it is rare: then the line is parsed in vain, and nothing is lost.
 */
export function mayBeGlued(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = bytes.indexOf(OPEN, from + 1); at > 0 && at < to; at = bytes.indexOf(OPEN, at + 1)) {
    if (bytes[at - 1] === CLOSE && bytes[at + 1] === QUOTE) return true;
  }
  return false;
}
