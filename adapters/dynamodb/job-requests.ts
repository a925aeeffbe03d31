import type { StageOneRow } from '../../core/job/end-job.ts';
import type { JobKey } from '../../core/job/job.ts';
import type { DeleteRequest, PutRequest, UpdateRequest } from './dynamo-table.ts';
import { duePartitionOf, jobSortKey, type Stamp, writeDue, writeRow } from './job-item.ts';
import { itemKey } from './requests.ts';
import { DUE_PARTITION_KEY, DUE_SORT_KEY } from './table.ts';

/** Names a job of a user. */
export interface JobPlace {
  readonly userKey: string;
  readonly key: JobKey;
}

/**
 * Writes job and head whole, if the item is still as it was read.
 * @param seen the stamp of the item as read; undefined when there was none
 */
export function putJob(
  { userKey, key }: JobPlace,
  row: StageOneRow,
  seen: Stamp | undefined,
  writeId: string,
): PutRequest {
  return {
    Item: {
      ...itemKey(userKey, jobSortKey(key)),
      revision: (seen?.revision ?? 0) + 1,
      write_id: writeId,
      ...(seen === undefined ? {} : { former_id: seen.writeId }),
      ...(seen?.touchId == null ? {} : { touch_id: seen.touchId }),
      ...writeRow(row),
      ...writeDue(userKey, key, row.job),
    },
    ...(seen === undefined ? { ConditionExpression: 'attribute_not_exists(pk)' } : asSeen(seen)),
  };
}

/** Removes job and head, if the item is still as it was read. */
export function deleteJob({ userKey, key }: JobPlace, seen: Stamp): DeleteRequest {
  return { Key: { ...itemKey(userKey, jobSortKey(key)) }, ...asSeen(seen) };
}

/**
 * Extends the lease of the run that holds the token, without reading before. The job is due at the end of its lease.
 * @param leaseUntil ms since the epoch
 */
export function extendJobLease({ userKey, key }: JobPlace, token: string, leaseUntil: number): UpdateRequest {
  return {
    Key: { ...itemKey(userKey, jobSortKey(key)) },
    UpdateExpression: 'SET lease_until = :until, #due_pk = :due, #due_at = :until ADD revision :one',
    ConditionExpression: '#token = :token AND #status = :running',
    ExpressionAttributeNames: {
      '#token': 'token',
      '#status': 'status',
      '#due_pk': DUE_PARTITION_KEY,
      '#due_at': DUE_SORT_KEY,
    },
    ExpressionAttributeValues: {
      ':until': leaseUntil,
      ':due': duePartitionOf(userKey, key),
      ':one': 1,
      ':token': token,
      ':running': 'running',
    },
  };
}

function asSeen(seen: Stamp): Pick<PutRequest, 'ConditionExpression' | 'ExpressionAttributeValues'> {
  return {
    ConditionExpression: 'revision = :revision AND write_id = :write',
    ExpressionAttributeValues: { ':revision': seen.revision, ':write': seen.writeId },
  };
}
