/**
 * Compares the store's order marks of two uploads of one thread: hex digits of any length, read as numbers (user case C4).
 * @returns below 0 when `left` came first, 0 when they are the same
 */
export function compareUploadOrder(left: string, right: string): number {
  const width = Math.max(left.length, right.length);
  const [a, b] = [left.toLowerCase().padStart(width, '0'), right.toLowerCase().padStart(width, '0')];
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
