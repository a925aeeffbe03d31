import type { SnapshotRef } from '../../core/extraction/stage-one-output.ts';
import { LIMITS } from '../../core/settings.ts';
import type { DeleteRequest, ItemKey, PutRequest, QueryRequest, UpdateRequest } from './dynamo-table.ts';
import { HEAD_ATTRIBUTES } from './job-item.ts';
import { itemKey, rangeOf } from './requests.ts';
import { SORT_KEYS, SORT_PREFIXES } from './table.ts';

/**
 * Partial writes of `stage1#` items. Each raises the revision, so that a transition which read the item before does not write
 * over it, and leaves its id, so that it is known again when its reply was lost.
 */

/** Counts uses and sets the last one; not again under the same id. */
export function countUse(
  userKey: string,
  threadId: string,
  use: { readonly times: number; readonly now: number },
  touchId: string,
): UpdateRequest {
  return {
    Key: { ...itemKey(userKey, SORT_KEYS.stageOne(threadId)) },
    UpdateExpression: 'SET last_usage = :now, touch_id = :touch ADD usage_count :times, revision :one',
    ConditionExpression:
      'attribute_exists(source_updated_at) AND (attribute_not_exists(touch_id) OR touch_id <> :touch OR last_usage <= :over)',
    ExpressionAttributeValues: {
      ':now': use.now,
      ':touch': touchId,
      ':over': use.now - LIMITS.receiptMs,
      ':times': use.times,
      ':one': 1,
    },
  };
}

/** Marks the snapshot as selected while it is the current one. May be repeated. */
export function markSnapshot(userKey: string, ref: SnapshotRef): UpdateRequest {
  return {
    Key: { ...itemKey(userKey, SORT_KEYS.stageOne(ref.threadId)) },
    UpdateExpression: 'SET selected_snapshot = :snapshot ADD revision :one',
    ConditionExpression: 'source_updated_at = :snapshot',
    ExpressionAttributeValues: { ':snapshot': ref.sourceUpdatedAt, ':one': 1 },
  };
}

/** Takes the selection mark away. May be repeated. */
export function clearMark(userKey: string, threadId: string): UpdateRequest {
  return {
    Key: { ...itemKey(userKey, SORT_KEYS.stageOne(threadId)) },
    UpdateExpression: 'REMOVE selected_snapshot ADD revision :one',
    ConditionExpression: 'attribute_exists(selected_snapshot)',
    ExpressionAttributeValues: { ':one': 1 },
  };
}

/** Removes the head that is still at the snapshot, and leaves the job. */
export function dropHead(userKey: string, ref: SnapshotRef, onlyUnselected: boolean, touchId: string): UpdateRequest {
  return {
    Key: { ...itemKey(userKey, SORT_KEYS.stageOne(ref.threadId)) },
    UpdateExpression: `REMOVE ${HEAD_ATTRIBUTES.map((name) => `#${name}`).join(', ')} SET touch_id = :touch ADD revision :one`,
    ConditionExpression: `#source_updated_at = :snapshot${onlyUnselected ? ' AND attribute_not_exists(#selected_snapshot)' : ''}`,
    ExpressionAttributeNames: Object.fromEntries(HEAD_ATTRIBUTES.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: { ':snapshot': ref.sourceUpdatedAt, ':touch': touchId, ':one': 1 },
  };
}

export function bodyKey(userKey: string, ref: SnapshotRef): ItemKey {
  return itemKey(userKey, SORT_KEYS.body(ref.threadId, ref.sourceUpdatedAt));
}

/** @param content packed texts; null when they lie on the shelf */
export function putBodyItem(
  userKey: string,
  ref: SnapshotRef,
  content: Uint8Array | null,
  writeId: string,
): PutRequest {
  return {
    Item: { ...bodyKey(userKey, ref), write_id: writeId, ...(content === null ? { on_shelf: true } : { content }) },
  };
}

/** Names all stored texts of a user, without the texts. */
export function listBodies(userKey: string): QueryRequest {
  return { ...rangeOf(userKey, SORT_PREFIXES.body), ProjectionExpression: 'sk, write_id, on_shelf' };
}

/** Deletes texts, unless somebody has written them again since they were listed. */
export function dropBody(userKey: string, ref: SnapshotRef, writeId: string): DeleteRequest {
  return {
    Key: { ...bodyKey(userKey, ref) },
    ConditionExpression: 'write_id = :write',
    ExpressionAttributeValues: { ':write': writeId },
  };
}
