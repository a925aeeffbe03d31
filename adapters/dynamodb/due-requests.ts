import type { DueJob, DueQuery } from '../../core/ports/due-index.ts';
import type { QueryRequest, UpdateRequest } from './dynamo-table.ts';
import { jobSortKey } from './job-item.ts';
import { itemKey } from './requests.ts';
import { DUE_INDEX, DUE_PARTITION_KEY, DUE_SORT_KEY, dueShard } from './table.ts';

/** Keys of due jobs of one shard, the longest due first. An index cannot be read consistently; a claim decides. */
export function findDue(query: DueQuery, start: Record<string, unknown> | undefined): QueryRequest {
  return {
    IndexName: DUE_INDEX,
    KeyConditionExpression: '#due_pk = :shard AND #due_at <= :now',
    ExpressionAttributeNames: { '#due_pk': DUE_PARTITION_KEY, '#due_at': DUE_SORT_KEY },
    ExpressionAttributeValues: {
      ':shard': dueShard(query.kind === 'extraction' ? 'phase1' : 'phase2', query.shard),
      ':now': query.now,
    },
    Limit: query.limit,
    ...(start === undefined ? {} : { ExclusiveStartKey: start }),
  };
}

/** Moves a job in the index, if nobody has moved it since it was found. The job itself stays as it is. */
export function postponeJob({ userKey, key, dueAt }: DueJob, until: number, touchId: string): UpdateRequest {
  return {
    Key: { ...itemKey(userKey, jobSortKey(key)) },
    UpdateExpression: 'SET #due_at = :until, touch_id = :touch',
    ConditionExpression: '#due_at = :found',
    ExpressionAttributeNames: { '#due_at': DUE_SORT_KEY },
    ExpressionAttributeValues: { ':until': until, ':found': dueAt, ':touch': touchId },
  };
}
