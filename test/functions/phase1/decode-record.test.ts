import { describe, expect, it } from 'vitest';
import { parseRolloutKey, rolloutKey } from '../../../adapters/s3/keys.ts';
import { decodeRecord, type RolloutOf, type Task } from '../../../functions/phase1/decode-record.ts';
import { dueBody, objectCreated, objectEvent, ROLLOUTS, s3Body, s3TestBody, throughTopic } from './events.ts';

const rolloutOf: RolloutOf = (bucket, key) => (bucket === ROLLOUTS ? parseRolloutKey(key) : undefined);
const decode = (body: string): readonly Task[] => decodeRecord(body, rolloutOf);
const UPLOADED = { kind: 'uploaded', userKey: 'u', threadId: 't', order: '0055AED6DCD90281E5' };
const created = (key: string) => objectCreated(key, '0055AED6DCD90281E5');

describe('decodeRecord, keys of objects', () => {
  it.each(['a b', 'a+b', 'a%b', 'a%2Bb', 'a%252Bb', 'é', '漢字', '🎛️', 'a=b', "~!'()*", 'a&b?c#d'])(
    'C1 decodes %s exactly once',
    (name) => {
      const key = `rollouts/u/${name}.jsonl`;
      const seen: string[] = [];
      decodeRecord(s3Body(created(key)), (_bucket, decoded) => {
        seen.push(decoded);
        return undefined;
      });
      expect(seen).toEqual([key]);
    },
  );

  it('C1 a key that would be ours only when decoded twice is foreign', () => {
    expect(decode(s3Body(created('rollouts/u/%74.jsonl')))).toMatchObject([{ kind: 'foreign' }]);
  });

  it('C1 a key with a percent sign that encodes nothing is foreign', () => {
    const body = s3Body(created('rollouts/u/t.jsonl')).replace('t.jsonl', '%zz.jsonl');
    expect(decode(body)).toMatchObject([{ kind: 'foreign' }]);
  });

  it('finds the rollout of a user whose key is encoded', () => {
    expect(decode(s3Body(created(rolloutKey('~w6k', 't'))))).toEqual([{ ...UPLOADED, userKey: '~w6k' }]);
  });

  it.each([
    'users/u/memories/MEMORY.md',
    'users/u/memories/skills/x/SKILL.md',
    'users/u/manifests/0000000001.json',
    'users/u/bodies/t/1772539200000.json.zst',
    'rollouts/u/t.jsonl.gz',
    'rollouts/u/deeper/t.jsonl',
    'rollouts/../t.jsonl',
    'rollouts/u/...jsonl',
    'xrollouts/u/t.jsonl',
  ])('C13 %s is foreign, and its key is not told', (key) => {
    const [task] = decode(s3Body(created(key)));
    expect(task).toEqual({
      kind: 'foreign',
      keyHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      keyBytes: expect.any(Number),
    });
    expect(JSON.stringify(task)).not.toContain(key);
  });

  it('C13 a rollout in another bucket is foreign', () => {
    expect(decode(s3Body(objectCreated('rollouts/u/t.jsonl', '1', 'other')))).toMatchObject([{ kind: 'foreign' }]);
  });
});

describe('decodeRecord, messages', () => {
  it.each(['ObjectCreated:Put', 'ObjectCreated:Copy', 'ObjectCreated:CompleteMultipartUpload', 's3:ObjectCreated:Put'])(
    'takes %s as an upload',
    (name) => {
      const record = objectEvent(name, 'rollouts/u/t.jsonl', { sequencer: '0055AED6DCD90281E5' });
      expect(decode(s3Body(record))).toEqual([UPLOADED]);
    },
  );

  it.each(['ObjectRemoved:Delete', 'ObjectRemoved:DeleteMarkerCreated', 'LifecycleExpiration:Delete'])(
    '%s asks for nothing',
    (name) => {
      expect(decode(s3Body(objectEvent(name, 'rollouts/u/t.jsonl', { sequencer: '1' })))).toEqual([]);
    },
  );

  it("C2 S3's test message asks for nothing", () => {
    expect(decode(s3TestBody())).toEqual([]);
  });

  it('C6 reads every record of one message, also of one that came through a topic', () => {
    const body = s3Body(created('rollouts/u/t.jsonl'), {}, created('users/u/x'));
    const tasks = [UPLOADED, { kind: 'unreadable' }, expect.objectContaining({ kind: 'foreign' })];
    expect(decode(body)).toEqual(tasks);
    expect(decode(throughTopic(body))).toEqual(tasks);
    expect(decode(throughTopic(s3TestBody()))).toEqual([]);
  });

  it('does not rely on a sequencer that is missing or none', () => {
    const order = (sequencer: string) => decode(s3Body(objectCreated('rollouts/u/t.jsonl', sequencer)));
    expect(order('not hex')).toEqual([{ ...UPLOADED, order: null }]);
    expect(order('')).toEqual([{ ...UPLOADED, order: null }]);
  });

  it('reads our own message', () => {
    expect(decode(dueBody('~w6k', 'a.b-c_1'))).toEqual([{ kind: 'thread_due', userKey: '~w6k', threadId: 'a.b-c_1' }]);
  });

  it.each([
    ['no JSON', 'MARKER'],
    ['a cut JSON', '{"Records":[{"MARKER'],
    ['another shape', '{"MARKER":1}'],
    ['no records', '{"Records":[]}'],
    ['a list', '["MARKER"]'],
    ['a topic around no JSON', throughTopic('MARKER')],
    ['two topics', throughTopic(throughTopic(s3TestBody()))],
    ['a user key that steps up', dueBody('..', 'MARKER')],
    ['a user key with a slash', dueBody('u/v', 'MARKER')],
    ['no user', dueBody('', 'MARKER')],
    ['a thread id with a slash', dueBody('u', 'MARKER/x')],
  ])('%s is unreadable, and the error does not quote it', (_name, body) => {
    let failure: unknown;
    try {
      decode(body);
    } catch (error) {
      failure = error;
    }
    expect(failure).toMatchObject({ kind: 'defect', code: 'queue.message_unreadable' });
    const shown = failure instanceof Error ? `${failure.stack}${JSON.stringify(failure)}${String(failure.cause)}` : '';
    expect(shown.replaceAll('MARKER', '')).toBe(shown);
  });
});
