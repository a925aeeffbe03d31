/**
 * Lengths are UTF-8 bytes; cuts fall on code points (behaviours 1.M, section 4). One token is estimated as 4 bytes (0.3).
 */
const encoder = new TextEncoder();
const lossyDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const BYTES_PER_TOKEN = 4;

export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** Decodes UTF-8; invalid sequences become U+FFFD. A byte order mark is kept. */
export function decodeUtf8(bytes: Uint8Array): string {
  return lossyDecoder.decode(bytes);
}

/** Decodes UTF-8. @returns undefined when the bytes are not valid UTF-8. */
export function decodeUtf8Strict(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return undefined; // the decoder's only failure: the bytes are not UTF-8
  }
}

/** Decodes Latin-1: each byte is the character of its number (behaviours V-01). */
export function decodeLatin1(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 8_192) pieces.push(String.fromCharCode(...bytes.subarray(at, at + 8_192)));
  return pieces.join('');
}

/** UTF-8 length of a text in bytes, without encoding it. A lone surrogate counts as the 3 bytes of U+FFFD. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(at + 1))) {
      bytes += 2; // a pair: two units so far counted as one byte each, four bytes in all
      at++;
    } else bytes += 2;
  }
  return bytes;
}

/** Estimated tokens of a text: bytes / 4, rounded up. */
export function estimateTokens(text: string): number {
  return Math.ceil(utf8Length(text) / BYTES_PER_TOKEN);
}

/** The largest character boundary of UTF-8 `bytes` at or below `limit` (behaviours I-09, TC-046). */
export function charBoundaryBefore(bytes: Uint8Array, limit: number): number {
  let at = Math.max(0, Math.min(limit, bytes.length));
  while (at > 0 && at < bytes.length && isContinuation(bytes[at] ?? 0)) at--;
  return at;
}

/** The smallest character boundary of UTF-8 `bytes` at or above `from`. */
export function charBoundaryAfter(bytes: Uint8Array, from: number): number {
  let at = Math.max(0, Math.min(from, bytes.length));
  while (at < bytes.length && isContinuation(bytes[at] ?? 0)) at++;
  return at;
}

/** Keeps head and tail within `maxTokens`; the marker `…N tokens truncated…` is not counted (behaviours M-01, M-03, M-04). */
export function truncateTokens(text: string, maxTokens: number): string {
  const budget = Math.max(0, maxTokens) * BYTES_PER_TOKEN;
  const bytes = encoder.encode(text);
  if (bytes.length <= budget) return text;
  const left = Math.ceil((bytes.length - budget) / BYTES_PER_TOKEN);
  const { head, tail } = splitAround(bytes, budget);
  return `${head}…${left} tokens truncated…${tail}`;
}

/** Keeps head and tail within `maxBytes`; the marker `…N chars truncated…` is not counted (behaviours M-02, M-04). */
export function truncateBytes(text: string, maxBytes: number): string {
  const budget = Math.max(0, maxBytes);
  const bytes = encoder.encode(text);
  if (bytes.length <= budget) return text;
  const { head, tail, middle } = splitAround(bytes, budget);
  return `${head}…${countCodePoints(middle)} chars truncated…${tail}`;
}

/** White space in the Unicode sense plus invisible marks; what is left decides whether a text is blank (DV-4). */
export function isBlank(text: string | null | undefined): boolean {
  return (
    text === null || text === undefined || !/[^\p{White_Space}\p{Cc}\p{Cf}\u115f\u1160\u3164\uffa0\u2800]/u.test(text)
  );
}

/** Compares by UTF-8 byte order, which is code point order; for ids and paths (behaviours section 4). */
export function compareBytes(left: string, right: string): number {
  const shared = Math.min(left.length, right.length);
  for (let at = 0; at < shared; at++) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a !== b) return rankUnit(a) - rankUnit(b);
  }
  return left.length - right.length;
}

/** Surrogates stand for code points above every other unit: lift them over U+E000..U+FFFF. */
function rankUnit(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

function splitAround(bytes: Uint8Array, budget: number): { head: string; tail: string; middle: Uint8Array } {
  const headBudget = Math.floor(budget / 2);
  const headEnd = charBoundaryBefore(bytes, headBudget);
  const tailStart = Math.max(headEnd, charBoundaryAfter(bytes, bytes.length - (budget - headBudget)));
  return {
    head: lossyDecoder.decode(bytes.subarray(0, headEnd)),
    tail: lossyDecoder.decode(bytes.subarray(tailStart)),
    middle: bytes.subarray(headEnd, tailStart),
  };
}

function countCodePoints(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (!isContinuation(byte)) count++;
  return count;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
