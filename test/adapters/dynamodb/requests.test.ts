import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findDue, postponeJob } from '../../../adapters/dynamodb/due-requests.ts';
import { readJobItem, type Stamp } from '../../../adapters/dynamodb/job-item.ts';
import { deleteJob, extendJobLease, putJob } from '../../../adapters/dynamodb/job-requests.ts';
import { rangeOf } from '../../../adapters/dynamodb/requests.ts';
import {
  clearMark,
  countUse,
  dropBody,
  dropHead,
  listBodies,
  markSnapshot,
  putBodyItem,
} from '../../../adapters/dynamodb/stage-one-requests.ts';
import { duePartition } from '../../../adapters/dynamodb/table.ts';
import { newWriteId } from '../../../adapters/dynamodb/write-id.ts';
import type { Outcome } from '../../../core/extraction/outcome.ts';
import type { Job, JobKey } from '../../../core/job/job.ts';
import { NOW, sampleHead, sampleJob } from '../../support/sample-state.ts';

const KEY: JobKey = { kind: 'extraction', threadId: 't' };
const PLACE = { userKey: 'u', key: KEY };
const ITEM_KEY = { pk: 'user#u', sk: 'stage1#t' };
const SEEN: Stamp = { revision: 7, writeId: 'w1', formerId: 'w0', touchId: 'c1' };

describe('the request that writes a job', () => {
  it('creates the item only where there is none', () => {
    expect(putJob(PLACE, { job: sampleJob({ wakeAt: NOW }), head: null }, undefined, 'w1')).toEqual({
      Item: {
        ...ITEM_KEY,
        revision: 1,
        write_id: 'w1',
        status: 'pending',
        retry_remaining: 3,
        attempts: 0,
        wake_at: NOW,
        due_pk: duePartition('phase1', 'u'),
        due_at: NOW,
      },
      ConditionExpression: 'attribute_not_exists(pk)',
    });
  });

  it('replaces the item only as it was read, keeps the ids to know it by, and leaves out what is null', () => {
    const job = sampleJob({
      status: 'done',
      token: 'k',
      startedAt: 1,
      finishedAt: 2,
      inputWatermark: 100,
      successWatermark: 100,
      outcome: { kind: 'skipped', reason: 'too_old', detail: 'x' },
    });
    const head = sampleHead({ threadId: 't', sourceUpdatedAt: 100, slug: 'a', usageCount: 0, selectedSnapshot: 99 });
    expect(putJob(PLACE, { job, head }, SEEN, 'w2')).toEqual({
      Item: {
        ...ITEM_KEY,
        revision: 8,
        write_id: 'w2',
        former_id: 'w1',
        touch_id: 'c1',
        status: 'done',
        token: 'k',
        started_at: 1,
        finished_at: 2,
        retry_remaining: 3,
        attempts: 0,
        input_watermark: 100,
        success_watermark: 100,
        outcome: 'skipped(too_old)',
        outcome_detail: 'x',
        source_updated_at: 100,
        generated_at: NOW,
        slug: 'a',
        usage_count: 0,
        selected_snapshot: 99,
        bytes: 100,
        model: 'model',
        prompt_version: '1',
      },
      ConditionExpression: 'revision = :revision AND write_id = :write',
      ExpressionAttributeValues: { ':revision': 7, ':write': 'w1' },
    });
  });

  it('puts the consolidation of the user into the other half of the index', () => {
    const job = sampleJob({ inputWatermark: 5, successWatermark: 0 });
    expect(putJob({ userKey: 'u', key: { kind: 'consolidation' } }, { job, head: null }, undefined, 'w')).toMatchObject(
      {
        Item: { pk: 'user#u', sk: 'consolidation', due_pk: duePartition('phase2', 'u'), due_at: 0 },
      },
    );
  });

  it('gives back what it was given, and never undefined or null', () => {
    const maybe = fc.option(fc.nat());
    const outcome = fc.option(
      fc.constantFrom<Outcome>({ kind: 'extracted' }, { kind: 'failed', reason: 'too_large', detail: '9 > 8' }),
    );
    const job: fc.Arbitrary<Job> = fc.record({
      status: fc.constantFrom('pending', 'running', 'done', 'error'),
      token: fc.option(fc.string()),
      startedAt: maybe,
      finishedAt: maybe,
      leaseUntil: maybe,
      retryAt: maybe,
      retryRemaining: fc.integer(),
      attempts: fc.nat(),
      lastError: fc.option(fc.string()),
      inputWatermark: maybe,
      successWatermark: maybe,
      outcome,
      wakeAt: maybe,
    });
    const head = fc.option(
      fc.record({
        threadId: fc.constant('t'),
        sourceUpdatedAt: fc.nat(),
        generatedAt: fc.nat(),
        slug: fc.option(fc.string()),
        usageCount: maybe,
        lastUsage: maybe,
        selectedSnapshot: maybe,
        bytes: fc.nat(),
        model: fc.string(),
        promptVersion: fc.string(),
      }),
    );
    fc.assert(
      fc.property(job, head, (someJob, someHead) => {
        const item = putJob(PLACE, { job: someJob, head: someHead }, SEEN, 'w2').Item ?? {};
        expect(Object.values(item)).not.toContain(undefined);
        expect(Object.values(item)).not.toContain(null);
        const { row, stamp } = readJobItem(item);
        expect(row).toEqual({ job: someJob, head: someHead });
        expect(stamp).toEqual({ revision: 8, writeId: 'w2', formerId: 'w1', touchId: 'c1' });
      }),
    );
  });

  it('makes an item under 1 KB for ids as long as UUIDs, so that a heartbeat or a citation costs one write unit', () => {
    const uuid = '00000000-0000-4000-8000-000000000000';
    const key: JobKey = { kind: 'extraction', threadId: uuid };
    const job = sampleJob({
      status: 'running',
      token: uuid,
      startedAt: NOW,
      leaseUntil: NOW,
      retryAt: NOW,
      lastError: 'failed(model_unavailable)',
      inputWatermark: NOW,
      successWatermark: NOW,
      outcome: { kind: 'failed', reason: 'model_unavailable', detail: 'x'.repeat(40) },
      wakeAt: NOW,
    });
    const head = sampleHead({
      slug: 's'.repeat(60),
      usageCount: 1_000,
      lastUsage: NOW,
      selectedSnapshot: NOW,
      model: 'm'.repeat(20),
    });
    const seen = { revision: 1_000, writeId: newWriteId(), formerId: newWriteId(), touchId: newWriteId() };
    const request = putJob({ userKey: uuid, key }, { job, head }, seen, newWriteId());
    expect(itemBytes(request.Item ?? {})).toBeLessThan(1_024);
  });
});

describe('the other requests', () => {
  it('delete a job only as it was read', () => {
    expect(deleteJob(PLACE, SEEN)).toEqual({
      Key: ITEM_KEY,
      ConditionExpression: 'revision = :revision AND write_id = :write',
      ExpressionAttributeValues: { ':revision': 7, ':write': 'w1' },
    });
  });

  it('extend a lease by token alone, and move the job in the index', () => {
    expect(extendJobLease(PLACE, 'k', NOW)).toEqual({
      Key: ITEM_KEY,
      UpdateExpression: 'SET lease_until = :until, #due_pk = :due, #due_at = :until ADD revision :one',
      ConditionExpression: '#token = :token AND #status = :running',
      ExpressionAttributeNames: { '#token': 'token', '#status': 'status', '#due_pk': 'due_pk', '#due_at': 'due_at' },
      ExpressionAttributeValues: {
        ':until': NOW,
        ':due': duePartition('phase1', 'u'),
        ':one': 1,
        ':token': 'k',
        ':running': 'running',
      },
    });
  });

  it('raise the revision with each partial write of a head', () => {
    const ref = { threadId: 't', sourceUpdatedAt: 100 };
    const writes = [
      countUse('u', 't', { times: 2, now: NOW }, 'c'),
      markSnapshot('u', ref),
      clearMark('u', 't'),
      dropHead('u', ref, true, 'c'),
    ];
    for (const { Key, UpdateExpression, ExpressionAttributeValues } of writes) {
      expect(Key).toEqual(ITEM_KEY);
      expect(UpdateExpression).toMatch(/ADD (usage_count :times, )?revision :one$/);
      expect(ExpressionAttributeValues).toMatchObject({ ':one': 1 });
    }
    expect(dropHead('u', ref, true, 'c').ConditionExpression).toBe(
      '#source_updated_at = :snapshot AND attribute_not_exists(#selected_snapshot)',
    );
    expect(dropHead('u', ref, false, 'c').ConditionExpression).toBe('#source_updated_at = :snapshot');
  });

  it('find due jobs by index, from where the last page ended', () => {
    const query = { kind: 'consolidation', shard: 3, now: NOW, limit: 10, after: null } as const;
    expect(findDue(query, undefined)).toEqual({
      IndexName: 'due',
      KeyConditionExpression: '#due_pk = :shard AND #due_at <= :now',
      ExpressionAttributeNames: { '#due_pk': 'due_pk', '#due_at': 'due_at' },
      ExpressionAttributeValues: { ':shard': 'phase2#3', ':now': NOW },
      Limit: 10,
    });
    expect(findDue({ ...query, kind: 'extraction' }, { pk: 'p' })).toMatchObject({
      ExpressionAttributeValues: { ':shard': 'phase1#3' },
      ExclusiveStartKey: { pk: 'p' },
    });
    expect(postponeJob({ ...PLACE, dueAt: 5 }, 9, 'c')).toEqual({
      Key: ITEM_KEY,
      UpdateExpression: 'SET #due_at = :until, touch_id = :touch',
      ConditionExpression: '#due_at = :found',
      ExpressionAttributeNames: { '#due_at': 'due_at' },
      ExpressionAttributeValues: { ':until': 9, ':found': 5, ':touch': 'c' },
    });
  });

  it('list texts without reading them, and hold either the texts or where they lie', () => {
    const ref = { threadId: 't', sourceUpdatedAt: 100 };
    expect(rangeOf('u', 'stage1#')).toEqual({
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': 'user#u', ':prefix': 'stage1#' },
      ConsistentRead: true,
    });
    expect(listBodies('u').ProjectionExpression).toBe('sk, write_id, on_shelf');
    const bytes = new Uint8Array([1]);
    expect(putBodyItem('u', ref, bytes, 'w').Item).toEqual({
      pk: 'user#u',
      sk: 'body#t#100',
      write_id: 'w',
      content: bytes,
    });
    expect(putBodyItem('u', ref, null, 'w').Item).toEqual({
      pk: 'user#u',
      sk: 'body#t#100',
      write_id: 'w',
      on_shelf: true,
    });
    expect(dropBody('u', ref, 'w')).toMatchObject({
      ConditionExpression: 'write_id = :write',
      ExpressionAttributeValues: { ':write': 'w' },
    });
  });
});

describe('an item that cannot be read', () => {
  const item = putJob(PLACE, { job: sampleJob(), head: sampleHead() }, SEEN, 'w').Item ?? {};

  it.each([
    ['status', 'secret'],
    ['attempts', 'secret'],
    ['attempts', 1.5],
    ['lease_until', 'secret'],
    ['write_id', undefined],
    ['outcome', 'secret'],
    ['bytes', 'secret'],
    ['model', undefined],
  ])('is a defect that names %s and not what is in it', (attribute, value) => {
    const read = () => readJobItem({ ...item, [attribute]: value });
    expect(read).toThrow(
      expect.objectContaining({
        kind: 'defect',
        code: 'table.item_unreadable',
        details: { item: 'job', attribute },
      }),
    );
    expect(read).not.toThrow(/secret/);
  });
});

/** What the table counts of an item: names and texts in UTF-8, numbers by half their digits. */
function itemBytes(item: Record<string, unknown>): number {
  return Object.entries(item).reduce((sum, [name, value]) => {
    const bytes =
      typeof value === 'number' ? Math.ceil(String(value).length / 2) + 1 : Buffer.byteLength(String(value));
    return sum + Buffer.byteLength(name) + bytes;
  }, 0);
}
