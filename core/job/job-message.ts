import * as z from 'zod';
import { DefectError } from '../errors.ts';
import { isThreadId, isUserKey } from '../ids.ts';
import type { JobMessage } from '../ports/job-queue.ts';

const messageShape = z
  .object({
    kind: z.literal('thread-due'),
    user_key: z.string().refine(isUserKey),
    thread_id: z.string().refine(isThreadId),
  })
  .transform(({ kind, user_key, thread_id }): JobMessage => ({ kind, userKey: user_key, threadId: thread_id }));

/** A message as it travels in a queue (storage.md, "SQS and schedule"): ids, never content. */
export function encodeJobMessage(message: JobMessage): string {
  return JSON.stringify({ kind: message.kind, user_key: message.userKey, thread_id: message.threadId });
}

/** Whether a parsed body claims to be a message of ours, readable or not; a notification of a store has no `kind`. */
export function isJobMessage(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'kind' in body;
}

/**
 * Reads the parsed body of a message back.
 * @throws DefectError `queue.message_unreadable`, which names the field, not what stood there
 */
export function decodeJobMessage(body: unknown): JobMessage {
  const reading = messageShape.safeParse(body);
  if (reading.success) return reading.data;
  const field = reading.error.issues[0]?.path.join('.') || 'body';
  throw new DefectError('queue.message_unreadable', `a queued message is not one of ours at "${field}"`, {
    details: { field },
  });
}
