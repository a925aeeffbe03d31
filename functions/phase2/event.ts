import * as z from 'zod';
import { DefectError } from '../../core/errors.ts';
import { isUserKey } from '../../core/ids.ts';

const eventShape = z.object({
  user_key: z.string().refine(isUserKey),
  /** ms since the epoch; names the execution, and is not used further. */
  due_at: z.number().int().min(0),
  immediate: z.boolean(),
});

/** A consolidation that was asked for. */
export interface Phase2Event {
  readonly userKey: string;
  /** True where a person asked: no cooldown. */
  readonly immediate: boolean;
}

/** @throws DefectError `phase2.unreadable_event`, which names the field: the function is wired to a wrong source */
export function decodeEvent(event: unknown): Phase2Event {
  const reading = eventShape.safeParse(event);
  if (reading.success) return { userKey: reading.data.user_key, immediate: reading.data.immediate };
  const field = reading.error.issues[0]?.path.join('.') || 'event';
  throw new DefectError('phase2.unreadable_event', `the event asks for no consolidation: "${field}"`, {
    details: { field },
  });
}
