import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import * as z from 'zod';
import { DefectError } from '../../core/errors.ts';

/** Below the 256 KB that the service takes in one checkpoint, with room for what is sent around it. */
const CHECKPOINT_BYTES = 252 * 1024;
/** A shorter answer is not worth compressing. */
const PLAIN_BYTES = 8 * 1024;
/** Far above any answer; a stored text that grows beyond it is damaged. */
const MAX_ANSWER_BYTES = 64 * 1_048_576;

const entryShape = z.discriminatedUnion('form', [
  z.object({ form: z.literal('plain'), key: z.string(), text: z.string(), short: z.boolean() }),
  /** zstd, base64. */
  z.object({ form: z.literal('zstd'), key: z.string(), text: z.string(), short: z.boolean() }),
  /**
   * The step ended, and its answer is not kept: it threw, or was too large. A later pass does it again, which is why nothing
   * suspends after it.
   */
  z.object({ form: z.literal('none'), key: z.string() }),
]);

/**
 * What one durable step leaves behind. `key` says whose answer it is; `short` that too little time was left after it, so that
 * every pass suspends at the same place.
 */
export type StepEntry = z.infer<typeof entryShape>;

/** @param text the answer as JSON text; absent: the step threw */
export function writeEntry(key: string, short: boolean, text?: string): StepEntry {
  if (text === undefined) return { form: 'none', key };
  const entry: StepEntry =
    Buffer.byteLength(text) <= PLAIN_BYTES
      ? { form: 'plain', key, text, short }
      : { form: 'zstd', key, text: zstdCompressSync(text).toString('base64'), short };
  return Buffer.byteLength(JSON.stringify(entry)) <= CHECKPOINT_BYTES ? entry : { form: 'none', key };
}

/** @throws DefectError `step.entry_unreadable` when what the service kept is no entry of ours */
export function readEntry(stored: unknown): StepEntry {
  const reading = entryShape.safeParse(stored);
  if (reading.success) return reading.data;
  throw new DefectError('step.entry_unreadable', 'a stored step does not have the shape of one');
}

/**
 * The JSON text of a kept answer.
 * @throws DefectError `step.entry_unreadable`
 */
export function answerText(entry: Exclude<StepEntry, { form: 'none' }>): string {
  if (entry.form === 'plain') return entry.text;
  try {
    const bytes = Buffer.from(entry.text, 'base64');
    return zstdDecompressSync(bytes, { maxOutputLength: MAX_ANSWER_BYTES }).toString();
  } catch (cause) {
    throw new DefectError('step.entry_unreadable', 'a stored step cannot be decompressed', { cause });
  }
}
