/**
 * Compares the store's order marks of two uploads of one thread: hex digits of different lengths, the shorter one filled up
 * with zeros at its right end, as S3 defines its sequencer (user case C4).
 * @returns below 0 when `left` came first, 0 when they are the same
 */
export function compareUploadOrder(left: string, right: string): number {
  const width = Math.max(left.length, right.length);
  const [a, b] = [left.toLowerCase().padEnd(width, '0'), right.toLowerCase().padEnd(width, '0')];
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
