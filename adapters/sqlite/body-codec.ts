import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as z from 'zod';
import { DefectError } from '../../core/errors.ts';
import type { StageOneBody } from '../../core/extraction/stage-one-output.ts';

const BODY = z.object({ raw_memory: z.string(), rollout_summary: z.string() });

/** The texts of a snapshot, compressed: JSON, deflated (every supported Node has it). */
export function packBody(body: StageOneBody): Uint8Array {
  return deflateRawSync(JSON.stringify({ raw_memory: body.rawMemory, rollout_summary: body.rolloutSummary }));
}

/** @throws DefectError `home.row_unreadable` when the stored bytes are damaged */
export function unpackBody(content: Uint8Array): StageOneBody {
  try {
    const { raw_memory, rollout_summary } = BODY.parse(JSON.parse(inflateRawSync(content).toString('utf8')));
    return { rawMemory: raw_memory, rolloutSummary: rollout_summary };
  } catch (cause) {
    throw new DefectError('home.row_unreadable', 'the database holds an unreadable stage-one body', {
      details: { table: 'bodies', bytes: content.length },
      // without the cause's text: a JSON error quotes what it read
      cause: cause instanceof Error ? cause.name : undefined,
    });
  }
}
