import { truncatedArchive, unreadableArchive } from './archive-failures.ts';
import type { ByteReader } from './byte-reader.ts';

/**
 * Finds where each frame of a Zstandard archive ends (RFC 8878, 3.1.1), since the platform's decompressor stops after the
 * first one and does not tell a cut second frame from none.
 */
const MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const SKIP_STEP = 65_536;
const DICTIONARY_BYTES = [0, 1, 2, 4];
const CONTENT_SIZE_BYTES = [0, 2, 4, 8];
const RLE_BLOCK = 1;
const RESERVED_BLOCK = 3;

/** True for the first four bytes of a Zstandard archive, skippable frames included. */
export function isZstd(start: Uint8Array): boolean {
  if (start.length < 4) return false;
  const magic = wordOf(start);
  return magic === MAGIC || isSkippable(magic);
}

/**
 * Moves to the next frame that holds content.
 * @returns false at the end of the archive
 * @throws InvalidInputError `rollout.truncated`, `rollout.unreadable`
 */
export async function toNextFrame(reader: ByteReader): Promise<boolean> {
  for (;;) {
    const start = await reader.peek(4);
    if (start.length === 0) return false;
    if (start.length < 4) throw truncatedArchive();
    if (wordOf(start) === MAGIC) return true;
    if (!isSkippable(wordOf(start))) throw unreadableArchive();
    await reader.take(4);
    let left = wordOf(await takeWhole(reader, 4));
    while (left > 0) left -= (await takeWhole(reader, Math.min(left, SKIP_STEP))).length;
  }
}

/**
 * The bytes of the frame at the reader's position, to its end and no further.
 * @throws InvalidInputError `rollout.truncated`, `rollout.unreadable`
 */
export async function* frameBytes(reader: ByteReader): AsyncGenerator<Uint8Array> {
  const start = await takeWhole(reader, 5);
  yield start;
  const descriptor = start[4] ?? 0;
  yield await takeWhole(reader, headerBytes(descriptor));
  for (let last = false; !last; ) {
    const head = await takeWhole(reader, 3);
    yield head;
    const word = (head[0] ?? 0) | ((head[1] ?? 0) << 8) | ((head[2] ?? 0) << 16);
    const type = (word >> 1) & 3;
    if (type === RESERVED_BLOCK) throw unreadableArchive();
    yield await takeWhole(reader, type === RLE_BLOCK ? 1 : word >> 3);
    last = (word & 1) === 1;
  }
  const hasChecksum = ((descriptor >> 2) & 1) === 1;
  if (hasChecksum) yield await takeWhole(reader, 4);
}

/** Bytes of a frame header after its descriptor. */
function headerBytes(descriptor: number): number {
  const singleSegment = (descriptor >> 5) & 1;
  const sizeFlag = descriptor >> 6;
  const windowBytes = 1 - singleSegment;
  const contentSizeBytes = sizeFlag === 0 ? singleSegment : (CONTENT_SIZE_BYTES[sizeFlag] ?? 0);
  return windowBytes + (DICTIONARY_BYTES[descriptor & 3] ?? 0) + contentSizeBytes;
}

async function takeWhole(reader: ByteReader, count: number): Promise<Uint8Array> {
  const bytes = await reader.take(count);
  if (bytes.length < count) throw truncatedArchive();
  return bytes;
}

function isSkippable(magic: number): boolean {
  return magic - (magic % 16) === SKIPPABLE_MAGIC;
}

function wordOf(bytes: Uint8Array): number {
  return ((bytes[0] ?? 0) | ((bytes[1] ?? 0) << 8) | ((bytes[2] ?? 0) << 16) | ((bytes[3] ?? 0) << 24)) >>> 0;
}
