import { Aws, Duration, Stack } from 'aws-cdk-lib';
import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, type ILayerVersion } from 'aws-cdk-lib/aws-lambda';
import { type Bucket, CfnBucket } from 'aws-cdk-lib/aws-s3';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { ROLLOUTS_PREFIX } from '../../adapters/s3/keys.ts';
import { DeadLetters, queueProps } from './dead-letters.ts';
import { listKeys, readSecret, receiveMessages, sendMessages, useItems, useObjects } from './grants.ts';
import { modelEnvironment } from './model.ts';
import type { StageScope } from './stage-scope.ts';
import { StillroomFunction } from './stillroom-function.ts';
import type { Storage } from './storage.ts';
import type { StillroomTable } from './table.ts';

/** Three model calls of 280 s, the longest there are, end within it; a lease (20 min) outlives it. The longest that Lambda has. */
const TIMEOUT = Duration.minutes(15);
/** As many as can be worked through within the time-out even when each model call is as slow as it may be: none is given back for want of time. */
const BATCH_SIZE = 3;
const MAX_RECEIVES = 5;
/** Characters of the hash at the end of a logical id. */
const LOGICAL_ID_HASH = 8;
const BODIES = 'users/*/bodies/*';

export interface RolloutIntakeProps {
  readonly stage: StageScope;
  readonly storage: Storage;
  readonly table: StillroomTable;
  readonly secretArn: string;
  readonly templates: ILayerVersion;
}

/**
 * How CloudFormation begins the name of a bucket: its stack, then its logical id, in small letters; the id's hash is left
 * out. What is left of the id is longer than a stage's name may be, so no other stage's buckets begin so.
 */
function generatedNameOf(bucket: CfnBucket): string {
  const stack = Stack.of(bucket);
  return `${stack.stackName}-${stack.getLogicalId(bucket).slice(0, -LOGICAL_ID_HASH)}`.toLowerCase();
}

/** From an upload to a stage-one output: the queue, its dead letters, and the function `phase1`. */
export class RolloutIntake extends Construct {
  readonly queue: Queue;
  readonly deadLetters: DeadLetters;
  readonly phase1: StillroomFunction;

  constructor(scope: Construct, id: string, props: RolloutIntakeProps) {
    super(scope, id);
    const { stage } = props;
    this.deadLetters = new DeadLetters(this, 'DeadLetters', {
      stage,
      part: 'rollouts-dead-letters',
      runbook: 'Rollouts in the dead-letter queue',
    });
    this.queue = new Queue(this, 'Queue', {
      ...queueProps(stage, 'rollouts'),
      visibilityTimeout: Duration.seconds(TIMEOUT.toSeconds() * 6),
      deadLetterQueue: { queue: this.deadLetters.queue, maxReceiveCount: MAX_RECEIVES },
    });
    this.#notify(props.storage.rollouts);
    this.phase1 = this.#phase1(props);
    this.#feed(stage);
    stage.alarms.add(this, 'rollouts-queue-age', {
      metric: this.queue.metricApproximateAgeOfOldestMessage({ period: Duration.minutes(5), statistic: Stats.MAXIMUM }),
      above: Duration.hours(2).toSeconds(),
      periods: 3,
      runbook: 'Rollouts wait in the queue',
    });
  }

  /**
   * S3 writes to the queue by itself. The queue's policy must stand before the bucket, so it names the bucket by the pattern
   * of its generated name, of which only the random part is open; no helper function of CDK, which would need a wildcard
   * role, is involved.
   */
  #notify(bucket: Bucket): void {
    const resource = bucket.node.defaultChild;
    if (!(resource instanceof CfnBucket)) throw new Error('the bucket has no resource');
    this.queue.addToResourcePolicy(
      new PolicyStatement({
        sid: 'UploadsSendMessages',
        principals: [new ServicePrincipal('s3.amazonaws.com')],
        actions: ['sqs:SendMessage'],
        resources: [this.queue.queueArn],
        conditions: {
          StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID },
          ArnLike: { 'aws:SourceArn': `arn:${Aws.PARTITION}:s3:::${generatedNameOf(resource)}*` },
        },
      }),
    );
    resource.notificationConfiguration = {
      queueConfigurations: [
        {
          event: 's3:ObjectCreated:*',
          queue: this.queue.queueArn,
          filter: { s3Key: { rules: [{ name: 'prefix', value: ROLLOUTS_PREFIX }] } },
        },
      ],
    };
    const policy = this.queue.node.tryFindChild('Policy');
    if (policy === undefined) throw new Error('the queue has no policy');
    resource.node.addDependency(policy);
  }

  #phase1({ stage, storage, table, secretArn, templates }: RolloutIntakeProps): StillroomFunction {
    return new StillroomFunction(this, 'Phase1', {
      stage,
      name: 'phase1',
      description: 'One rollout, one model call, one stage-one output',
      memoryMb: 1_769, // one whole virtual CPU: rollouts of gigabytes are decompressed, parsed and redacted
      timeout: TIMEOUT,
      layers: [templates],
      environment: {
        TABLE_NAME: table.table.tableName,
        ROLLOUTS_BUCKET: storage.rollouts.bucketName,
        MEMORIES_BUCKET: storage.memories.bucketName,
        QUEUE_URL: this.queue.queueUrl,
        ...modelEnvironment(stage.config.model, secretArn),
        EXTRACT_MODEL: stage.config.model.extractModel,
      },
      grants: [
        receiveMessages(this.queue),
        // A thread whose upload was taken in waits for its user's turn in the same queue (user case C21).
        sendMessages(this.queue),
        // By the keys of its messages only: it may not list them.
        useObjects(storage.rollouts, 'ReadRollouts', ['GetObject', 'GetObjectVersion'], [`${ROLLOUTS_PREFIX}*`]),
        // A forgotten thread that is uploaded again is hidden at once, and gone with its versions a day later.
        useObjects(storage.rollouts, 'HideForgotten', ['DeleteObject'], [`${ROLLOUTS_PREFIX}*`]),
        // A body that a newer one replaced goes with all its versions; it can name bodies, and read none.
        useObjects(storage.memories, 'KeepBodies', ['PutObject', 'DeleteObjectVersion'], [BODIES]),
        listKeys(storage.memories, 'FindBodyVersions', ['ListBucketVersions'], BODIES),
        useItems(table.table, 'UseItems', [
          'GetItem',
          'BatchGetItem',
          'Query',
          'PutItem',
          'UpdateItem',
          'DeleteItem',
          'BatchWriteItem',
        ]),
        readSecret(secretArn),
      ],
    });
  }

  /** Never reserved concurrency: throttled receives would count, and send healthy messages to the dead letters (user case C10). */
  #feed(stage: StageScope): void {
    new EventSourceMapping(this, 'Mapping', {
      target: this.phase1.function,
      eventSourceArn: this.queue.queueArn,
      batchSize: BATCH_SIZE,
      reportBatchItemFailures: true,
      maxConcurrency: stage.config.extractionConcurrency,
    });
  }
}
