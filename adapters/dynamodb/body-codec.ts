import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import * as z from 'zod/mini';
import { DefectError } from '../../core/errors.ts';
import type { StageOneBody } from '../../core/extraction/stage-one-output.ts';

const BODY = z.object({ raw_memory: z.string(), rollout_summary: z.string() });
/** No snapshot is near it: an answer of a model is at most some megabytes. */
const MAX_PLAIN_BYTES = 64 * 1024 * 1024;

/** The texts of a snapshot: JSON in UTF-8, compressed with zstd and a checksum. */
export function packBody(body: StageOneBody): Uint8Array {
  const text = JSON.stringify({ raw_memory: body.rawMemory, rollout_summary: body.rolloutSummary });
  return zstdCompressSync(text, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
}

/** @throws DefectError `table.item_unreadable` when the bytes are damaged */
export function unpackBody(content: Uint8Array): StageOneBody {
  try {
    const text = zstdDecompressSync(content, { maxOutputLength: MAX_PLAIN_BYTES }).toString('utf8');
    const { raw_memory, rollout_summary } = BODY.parse(JSON.parse(text));
    return { rawMemory: raw_memory, rolloutSummary: rollout_summary };
  } catch (cause) {
    throw new DefectError('table.item_unreadable', 'the table holds unreadable stage-one texts', {
      details: { item: 'body', bytes: content.length },
      // without the cause's text: a JSON error quotes what it read
      cause: cause instanceof Error ? cause.name : undefined,
    });
  }
}
