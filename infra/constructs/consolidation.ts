import { Duration } from 'aws-cdk-lib';
import { Alias, type ILayerVersion } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { DeadLetters } from './dead-letters.ts';
import { checkpoint, listKeys, readSecret, sendDeadLetters, useItems, useObjects } from './grants.ts';
import { modelEnvironment, oneShotEnvironment } from './model.ts';
import type { StageScope } from './stage-scope.ts';
import { functionArn, StillroomFunction } from './stillroom-function.ts';
import type { Storage } from './storage.ts';
import type { StillroomTable } from './table.ts';

/** One invocation of a run: a model call of 4 minutes and what comes before and after it. The run itself goes on in the next. */
const TIMEOUT = Duration.minutes(15);
/** A run that outlasts the cooldown of 6 hours is of no use: the next one is due. */
const RUN_TIMEOUT = Duration.hours(6);
/** The shortest there is: an erase cannot reach checkpoints. They hold names of steps; answers are items of the table. */
const RUN_HISTORY = Duration.days(1);
export const CONSOLIDATION_ALIAS = 'live';

export interface ConsolidationProps {
  readonly stage: StageScope;
  readonly storage: Storage;
  readonly table: StillroomTable;
  readonly secretArn: string;
  readonly templates: ILayerVersion;
}

/**
 * The durable function `phase2`, one run a user: started asynchronously by its alias, never retried by Lambda (the sweep is
 * the one retry owner), with a dead-letter queue for runs that ended badly as a whole.
 */
export class Consolidation extends Construct {
  readonly phase2: StillroomFunction;
  readonly alias: Alias;
  readonly deadLetters: DeadLetters;
  /** The alias's ARN, known without waiting for it. */
  readonly startArn: string;

  constructor(scope: Construct, id: string, props: ConsolidationProps) {
    super(scope, id);
    this.deadLetters = new DeadLetters(this, 'DeadLetters', {
      stage: props.stage,
      part: 'consolidation-dead-letters',
      runbook: 'Consolidations in the dead-letter queue',
    });
    this.phase2 = this.#phase2(props);
    this.alias = new Alias(this, 'Alias', {
      aliasName: CONSOLIDATION_ALIAS,
      version: this.phase2.function.currentVersion,
      retryAttempts: 0,
      maxEventAge: Duration.hours(1),
    });
    this.startArn = this.alias.functionArn;
  }

  #phase2({ stage, storage, table, secretArn, templates }: ConsolidationProps): StillroomFunction {
    const { memories } = storage;
    return new StillroomFunction(this, 'Phase2', {
      stage,
      name: 'phase2',
      description: 'One consolidation of one user, a step a turn',
      memoryMb: 1_769, // one whole virtual CPU: the workspace is in memory, and each turn is replayed up to its step
      timeout: TIMEOUT,
      durable: { executionTimeout: RUN_TIMEOUT, retentionPeriod: RUN_HISTORY },
      deadLetters: this.deadLetters.queue,
      layers: [templates],
      environment: {
        TABLE_NAME: table.table.tableName,
        MEMORIES_BUCKET: memories.bucketName,
        ...modelEnvironment(stage.config.model, secretArn),
        ...oneShotEnvironment(stage.config.model),
        CONSOLIDATION_MODEL: stage.config.model.consolidationModel,
      },
      grants: [
        useObjects(
          memories,
          'PublishVersions',
          ['GetObject', 'GetObjectVersion', 'PutObject', 'DeleteObject', 'DeleteObjectVersion'],
          ['users/*/memories/*', 'users/*/manifests/*'],
        ),
        useObjects(memories, 'ReadAndPruneBodies', ['GetObject', 'DeleteObjectVersion'], ['users/*/bodies/*']),
        // Written with the tag that ends them; taken back by the run that wrote them. It can read none.
        useObjects(
          memories,
          'KeepAnswers',
          ['PutObject', 'PutObjectTagging', 'DeleteObjectVersion'],
          ['users/*/replays/*'],
        ),
        listKeys(memories, 'FindLeftovers', ['ListBucket', 'ListBucketVersions']),
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
        checkpoint(functionArn(this, stage, 'phase2')),
        sendDeadLetters(this.deadLetters.queue),
      ],
    });
  }
}
