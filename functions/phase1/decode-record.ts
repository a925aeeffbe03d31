import * as z from 'zod';
import { DefectError } from '../../core/errors.ts';
import { sha256Hex } from '../../core/ids.ts';
import { decodeJobMessage, isJobMessage } from '../../core/job/job-message.ts';
import { utf8Length } from '../../core/text.ts';

/** What one part of a message asks for. */
export type Task =
  | { readonly kind: 'thread_due'; readonly userKey: string; readonly threadId: string }
  /** `order`: the upload's sequencer; null where the event has none. */
  | { readonly kind: 'uploaded'; readonly userKey: string; readonly threadId: string; readonly order: string | null }
  /** An object that is no rollout of ours. Its key may say anything: only its size and hash go on. */
  | { readonly kind: 'foreign'; readonly keyHash: string; readonly keyBytes: number }
  /** One of several records that is of no known shape. */
  | { readonly kind: 'unreadable' };

/** Whose rollout lies under a key of a bucket; undefined for every other object. The key comes decoded. */
export type RolloutOf = (
  bucket: string,
  key: string,
) => { readonly userKey: string; readonly threadId: string } | undefined;

const testShape = z.object({ Event: z.literal('s3:TestEvent') });
const topicShape = z.object({ Type: z.literal('Notification'), Message: z.string() });
const storeShape = z.object({ Records: z.array(z.unknown()).min(1) });
const objectShape = z.object({
  eventName: z.string(),
  s3: z.object({
    bucket: z.object({ name: z.string() }),
    object: z.object({ key: z.string(), sequencer: z.string().optional() }),
  }),
});

/**
 * Reads the body of a queue message: our own `thread-due`, or an S3 notification with one record or several, also where a
 * topic stands between the bucket and the queue (user case C6). Removed objects and S3's test message ask for nothing.
 * @throws DefectError `queue.message_unreadable` when the body is neither; its text is not shown
 */
export function decodeRecord(body: string, rolloutOf: RolloutOf): readonly Task[] {
  const message = parseJson(body);
  const topic = topicShape.safeParse(message);
  return decodeMessage(topic.success ? parseJson(topic.data.Message) : message, rolloutOf);
}

function decodeMessage(message: unknown, rolloutOf: RolloutOf): readonly Task[] {
  if (isJobMessage(message)) {
    const { userKey, threadId } = decodeJobMessage(message);
    return [{ kind: 'thread_due', userKey, threadId }];
  }
  if (testShape.safeParse(message).success) return [];
  const store = storeShape.safeParse(message);
  if (!store.success) throw unreadable('shape');
  return store.data.Records.flatMap((record) => decodeObject(record, rolloutOf));
}

function decodeObject(record: unknown, rolloutOf: RolloutOf): readonly Task[] {
  const parsed = objectShape.safeParse(record);
  if (!parsed.success) return [{ kind: 'unreadable' }];
  const { eventName, s3 } = parsed.data;
  if (!/^(?:s3:)?ObjectCreated:/.test(eventName)) return [];
  const key = decodeKey(s3.object.key);
  const rollout = key === undefined ? undefined : rolloutOf(s3.bucket.name, key);
  if (rollout === undefined) {
    return [{ kind: 'foreign', keyHash: sha256Hex(s3.object.key), keyBytes: utf8Length(s3.object.key) }];
  }
  const { sequencer } = s3.object;
  const order = sequencer !== undefined && /^[0-9a-f]{1,64}$/i.test(sequencer) ? sequencer : null;
  return [{ kind: 'uploaded', ...rollout, order }];
}

/** Keys come URL-encoded, a space as `+` (user case C1): decoded once. @returns undefined when it is not so encoded */
function decodeKey(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    return undefined; // the only failure: a % that encodes nothing
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable('json'); // without its cause, whose message quotes the text
  }
}

function unreadable(reason: 'json' | 'shape'): DefectError {
  return new DefectError('queue.message_unreadable', 'a queue message is none of the known kinds', {
    details: { reason },
  });
}
