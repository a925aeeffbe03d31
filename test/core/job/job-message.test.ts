import { describe, expect, it } from 'vitest';
import { decodeJobMessage, encodeJobMessage, isJobMessage } from '../../../core/job/job-message.ts';

const MESSAGE = { kind: 'thread-due', userKey: '~YS9i', threadId: 't.1' } as const;
const BODY = { kind: 'thread-due', user_key: '~YS9i', thread_id: 't.1' };

describe('messages of a job queue', () => {
  it('come back as they were sent', () => {
    expect(JSON.parse(encodeJobMessage(MESSAGE))).toEqual(BODY);
    expect(decodeJobMessage(BODY)).toEqual(MESSAGE);
  });

  it.each([
    ['kind', { ...BODY, kind: 'other' }],
    ['user_key', { ...BODY, user_key: '../u10' }],
    ['user_key', { ...BODY, user_key: '..' }],
    ['thread_id', { ...BODY, thread_id: 'a/b' }],
    ['thread_id', { kind: 'thread-due', user_key: 'u1' }],
    ['body', 'text'],
    ['body', null],
  ])('are refused by the name of the field %s', (field, body) => {
    expect(() => decodeJobMessage(body)).toThrow(
      expect.objectContaining({ kind: 'defect', code: 'queue.message_unreadable', details: { field } }),
    );
  });

  it('are told from notifications of a store by their kind', () => {
    expect(isJobMessage({ kind: 'anything' })).toBe(true);
    for (const other of [{ Records: [] }, { Event: 's3:TestEvent' }, 'text', null])
      expect(isJobMessage(other)).toBe(false);
  });
});
