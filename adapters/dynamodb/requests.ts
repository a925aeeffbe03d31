import type { ItemKey, QueryRequest } from './dynamo-table.ts';
import { userPartition } from './table.ts';

/** Request parts that every store needs; those of one store stand in a file of its own. */

export function itemKey(userKey: string, sortKey: string): ItemKey {
  return { pk: userPartition(userKey), sk: sortKey };
}

/** A user's items whose sort keys begin with a prefix, in the order of their bytes, as they are at this moment. */
export function rangeOf(userKey: string, prefix: string): QueryRequest {
  return {
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': userPartition(userKey), ':prefix': prefix },
    ConsistentRead: true,
  };
}
