import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { DUE_INDEX } from '../../adapters/dynamodb/table.ts';

/**
 * Statements of the functions' policies, as data: what a function may do stands in one list where the function is made, and
 * nothing is added behind it.
 */
export interface Grant {
  readonly sid: string;
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  readonly conditions?: Record<string, Record<string, string | string[]>>;
  /** Why a resource of it ends in `*`; needed where one does. */
  readonly wildcard?: string;
}

const EVERY_USER = 'One function serves every user; whose key it uses comes from the verified identity.';

type ItemAction = 'GetItem' | 'BatchGetItem' | 'Query' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'BatchWriteItem';

/**
 * Items of users, by their partition; no scan, so that no function can list who the users are.
 * @param attributes the only ones that a request may name; all by default
 */
export function useItems(
  table: ITable,
  sid: string,
  actions: readonly ItemAction[],
  attributes?: readonly string[],
): Grant {
  return {
    sid,
    actions: actions.map((action) => `dynamodb:${action}`),
    resources: [table.tableArn],
    conditions: {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['user#*'] },
      ...(attributes ? { 'ForAllValues:StringEquals': { 'dynamodb:Attributes': [...attributes] } } : {}),
    },
  };
}

/** The due index: keys only, by shard. */
export function queryDue(table: ITable): Grant {
  return {
    sid: 'FindDueJobs',
    actions: ['dynamodb:Query'],
    resources: [`${table.tableArn}/index/${DUE_INDEX}`],
    conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['phase1#*', 'phase2#*'] } },
  };
}

type ObjectAction =
  | 'GetObject'
  | 'GetObjectVersion'
  | 'PutObject'
  | 'PutObjectTagging'
  | 'DeleteObject'
  | 'DeleteObjectVersion'
  | 'AbortMultipartUpload';

/** Objects of a bucket under patterns of keys. */
export function useObjects(
  bucket: IBucket,
  sid: string,
  actions: readonly ObjectAction[],
  patterns: readonly string[],
): Grant {
  return {
    sid,
    actions: actions.map((action) => `s3:${action}`),
    resources: patterns.map((pattern) => bucket.arnForObjects(pattern)),
    wildcard: EVERY_USER,
  };
}

type ListAction = 'ListBucket' | 'ListBucketVersions' | 'ListBucketMultipartUploads';

/**
 * The names in a bucket. S3 also answers 404 for a missing key only to who may list; to others it is a 403.
 * @param prefix a pattern: lists no more than what lies under it
 */
export function listKeys(bucket: IBucket, sid: string, actions: readonly ListAction[], prefix?: string): Grant {
  return {
    sid,
    actions: actions.map((action) => `s3:${action}`),
    resources: [bucket.bucketArn],
    ...(prefix === undefined ? {} : { conditions: { StringLike: { 's3:prefix': prefix } } }),
  };
}

export function sendMessages(queue: IQueue): Grant {
  return { sid: 'SendMessages', actions: ['sqs:SendMessage'], resources: [queue.queueArn] };
}

export function receiveMessages(queue: IQueue): Grant {
  return {
    sid: 'ReceiveMessages',
    actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility', 'sqs:GetQueueAttributes'],
    resources: [queue.queueArn],
  };
}

export function readSecret(secretArn: string): Grant {
  return { sid: 'ReadModelKey', actions: ['secretsmanager:GetSecretValue'], resources: [secretArn] };
}

/** @param qualifiedArn of the alias: an older version cannot be started by mistake */
export function startConsolidation(qualifiedArn: string): Grant {
  return { sid: 'StartConsolidation', actions: ['lambda:InvokeFunction'], resources: [qualifiedArn] };
}

/** Checkpoints of its own runs; Lambda authorises them by version, so the number stays open. */
export function checkpoint(functionArn: string): Grant {
  return {
    sid: 'Checkpoint',
    actions: ['lambda:CheckpointDurableExecution', 'lambda:GetDurableExecutionState'],
    resources: [`${functionArn}:*`],
    wildcard:
      'The ARN of a run holds the version and an id that Lambda makes up; it is the function itself that is named.',
  };
}

export function sendDeadLetters(queue: IQueue): Grant {
  return { sid: 'SendDeadLetters', actions: ['sqs:SendMessage'], resources: [queue.queueArn] };
}

export function writeLogs(logGroup: ILogGroup): Grant {
  return {
    sid: 'WriteLogs',
    actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    resources: [logGroup.logGroupArn],
    wildcard: 'The ARN of a log group ends in :* for its streams, whose names Lambda makes up.',
  };
}

/** The customer's own key, by whatever service keeps something under it. */
export function useKey(key: IKey): Grant {
  return {
    sid: 'UseKey',
    actions: ['kms:Decrypt', 'kms:Encrypt', 'kms:GenerateDataKey', 'kms:DescribeKey'],
    resources: [key.keyArn],
  };
}
