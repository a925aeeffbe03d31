import * as z from 'zod';
import { DefectError } from '../../core/errors.ts';

const entryShape = z.object({
  /** `<runId>/<name>`: whose step it was. */
  key: z.string(),
  /** False: it threw, and a later pass does it again. */
  ended: z.boolean(),
  /** Too little time was left after it, so that every pass suspends at the same place. */
  short: z.boolean(),
});

/** What a step leaves in the history of a durable execution: no content, which an erase could not reach there. */
export type StepEntry = z.infer<typeof entryShape>;

/** @throws DefectError `step.entry_unreadable` when what the service kept is no entry of ours */
export function readEntry(stored: unknown): StepEntry {
  const reading = entryShape.safeParse(stored);
  if (reading.success) return reading.data;
  throw new DefectError('step.entry_unreadable', 'a stored step does not have the shape of one');
}
