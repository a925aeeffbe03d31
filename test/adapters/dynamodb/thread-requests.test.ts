import { describe, expect, it } from 'vitest';
import {
  listMarks,
  listThreads,
  putThread,
  readMark,
  readThread,
  setMode,
} from '../../../adapters/dynamodb/thread-requests.ts';
import { NOW, sampleThread } from '../../support/sample-state.ts';

const PLAIN = sampleThread({ threadId: 't', cwd: null });
const ITEM = {
  pk: 'user#u',
  sk: 'thread#t',
  revision: 1,
  write_id: 'w',
  thread_id: 't',
  memory_mode: 'enabled',
  source: 'cli',
  subagent: false,
  ephemeral: false,
  agent_kind: 'codex',
  project: '/work/app',
  created_at: NOW - 7_200_000,
  updated_at: NOW - 3_600_000,
  ended: true,
  rollout_sha256: '0'.repeat(64),
  rollout_bytes: 1_000,
  rollout_uploaded_at: NOW - 60_000,
  rollout_path: 'rollout.jsonl',
};

describe("a thread's item", () => {
  it('is put only where there is none, and holds no attribute for what is not known', () => {
    expect(putThread('u', PLAIN, 'w', null)).toEqual({ Item: ITEM, ConditionExpression: 'attribute_not_exists(pk)' });
  });

  it('is replaced only over the write that it was read from', () => {
    expect(putThread('u', PLAIN, 'w', { revision: 6, writeId: 'x' })).toEqual({
      Item: { ...ITEM, revision: 7 },
      ConditionExpression: '#revision = :revision AND #write_id = :over',
      ExpressionAttributeNames: { '#revision': 'revision', '#write_id': 'write_id' },
      ExpressionAttributeValues: { ':revision': 6, ':over': 'x' },
    });
  });

  it('has no time to live, not even as a tombstone (DV-18)', () => {
    const tombstone = putThread('u', { ...PLAIN, forgottenAt: NOW }, 'w', null);
    expect(tombstone.Item).toMatchObject({ forgotten_at: NOW });
    expect(tombstone.Item).not.toHaveProperty('expires_at');
  });

  it('holds whole characters only', () => {
    const torn = putThread('u', { ...PLAIN, title: 'half \ud83d', cwd: '/a\udc00' }, 'w', null);
    expect(torn.Item).toMatchObject({ title: 'half \ufffd', cwd: '/a\ufffd' });
  });

  it('changes its mode where it exists and has another', () => {
    expect(setMode('u', 't', 'polluted', 'w')).toEqual({
      Key: { pk: 'user#u', sk: 'thread#t' },
      UpdateExpression: 'SET #memory_mode = :mode, #write_id = :write_id ADD #revision :one',
      ConditionExpression: 'attribute_exists(pk) AND #memory_mode <> :mode',
      ExpressionAttributeNames: { '#memory_mode': 'memory_mode', '#write_id': 'write_id', '#revision': 'revision' },
      ExpressionAttributeValues: { ':mode': 'polluted', ':write_id': 'w', ':one': 1 },
    });
  });

  it('is read back as it was, and honoured as a tombstone whatever time to live it carries', () => {
    const stamp = { revision: 1, writeId: 'w' };
    expect(readThread(ITEM)).toEqual({ thread: PLAIN, stamp });
    const late = { ...ITEM, forgotten_at: NOW, expires_at: 1 };
    expect(readThread(late)).toEqual({ thread: { ...PLAIN, forgottenAt: NOW }, stamp });
  });

  it.each([
    ['revision', '1'],
    ['memory_mode', 'on'],
    ['ended', 1],
    ['rollout_bytes', 1.5],
    ['title', { S: 'secret content' }],
    ['updated_at', undefined],
  ])('that has a bad %s is a defect that names it and quotes nothing', (attribute, value) => {
    const failure = { kind: 'defect', code: 'table.item_unreadable', details: { item: 'thread', attribute } };
    expect(() => readThread({ ...ITEM, [attribute]: value })).toThrow(expect.objectContaining(failure));
    expect(() => readThread({ ...ITEM, [attribute]: value })).toThrow(expect.not.stringMatching(/secret/));
  });
});

describe('lists of threads', () => {
  it('are one range of the sort key, after an id where one is given', () => {
    expect(listThreads('u', undefined)).toEqual({
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': 'user#u', ':prefix': 'thread#' },
      ConsistentRead: true,
    });
    expect(listThreads('u', 'a')).toEqual({
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':pk': 'user#u', ':from': 'thread#a ', ':to': 'thread#~' },
      ConsistentRead: true,
    });
  });

  it.each(['~', '~a', 'ä'])('end at once after %s, which follows every id', (after) => {
    expect(listThreads('u', after)).toBeUndefined();
  });

  it('of marks read four small attributes of what is not forgotten', () => {
    expect(listMarks('u')).toMatchObject({
      FilterExpression: 'attribute_not_exists(#forgotten_at)',
      ProjectionExpression: '#thread_id, #updated_at, #rollout_uploaded_at, #reading',
    });
    expect(readMark({ thread_id: 't', updated_at: 5, rollout_uploaded_at: 6 })).toEqual({
      threadId: 't',
      updatedAt: 5,
      uploadedAt: 6,
      redactions: {},
    });
  });
});
