import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { StillroomError } from '../../core/errors.ts';
import { tooLargeRollout, truncatedArchive, unreadableArchive } from './archive-failures.ts';
import { ByteReader } from './byte-reader.ts';
import { frameBytes, isZstd, toNextFrame } from './zstd-frames.ts';

/**
 * Plain content of a file that is plain, gzip or zstd, told by its first bytes; all members or frames one after another.
 * Works on chunks, so memory stays flat whatever the size.
 * @param limitBytes largest plain size
 * @throws InvalidInputError `rollout.truncated`, `rollout.unreadable`, `rollout.too_large`, while being read
 */
export async function* decompress(chunks: AsyncIterable<Uint8Array>, limitBytes: number): AsyncGenerator<Uint8Array> {
  const reader = new ByteReader(chunks);
  let bytes = 0;
  try {
    for await (const chunk of plainChunks(reader, await reader.peek(4))) {
      bytes += chunk.length;
      if (bytes > limitBytes) throw tooLargeRollout(limitBytes);
      yield chunk;
    }
  } finally {
    await reader.close();
  }
}

async function* plainChunks(reader: ByteReader, start: Uint8Array): AsyncGenerator<Uint8Array> {
  if (isZstd(start)) while (await toNextFrame(reader)) yield* runThrough(frameBytes(reader), createZstdDecompress());
  else if (start[0] === 0x1f && start[1] === 0x8b) yield* runThrough(reader.rest(), createGunzip());
  else yield* reader.rest();
}

async function* runThrough(packed: AsyncIterable<Uint8Array>, unpacker: Transform): AsyncGenerator<Uint8Array> {
  const source = Readable.from(packed, { objectMode: false });
  const running = pipeline(source, unpacker);
  running.catch(() => undefined); // the same failure ends the iteration below, which reports it
  try {
    for await (const chunk of unpacker) if (chunk instanceof Uint8Array) yield chunk;
    await running;
  } catch (cause) {
    throw archiveFailure(cause);
  } finally {
    unpacker.destroy();
    source.destroy();
  }
}

function archiveFailure(cause: unknown): unknown {
  const code = errorCode(cause);
  if (cause instanceof StillroomError || code === undefined) return cause;
  if (code === 'Z_BUF_ERROR') return truncatedArchive(cause);
  return /^(Z_|ZSTD_)/.test(code) ? unreadableArchive(cause) : cause;
}

/** The code of a failure of Node's zlib or streams. */
function errorCode(cause: unknown): string | undefined {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
}
