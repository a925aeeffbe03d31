import { Duration } from 'aws-cdk-lib';
import { MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { AttributeType, BillingMode, ProjectionType, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import {
  DUE_INDEX,
  DUE_PARTITION_KEY,
  DUE_SORT_KEY,
  PARTITION_KEY,
  SORT_KEY,
  TTL_ATTRIBUTE,
} from '../../adapters/dynamodb/table.ts';
import { dataRemoval, type StageScope } from './stage-scope.ts';

/** The one table (storage.md). On demand, so that idling costs its storage alone; every second of 35 days can be restored. */
export class StillroomTable extends Construct {
  readonly table: Table;

  constructor(scope: Construct, id: string, stage: StageScope) {
    super(scope, id);
    this.table = new Table(this, 'Table', {
      partitionKey: { name: PARTITION_KEY, type: AttributeType.STRING },
      sortKey: { name: SORT_KEY, type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: TTL_ATTRIBUTE,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: stage.config.stage !== 'dev',
      removalPolicy: dataRemoval(stage.config),
      ...(stage.key
        ? { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: stage.key }
        : { encryption: TableEncryption.DEFAULT }),
    });
    this.table.addGlobalSecondaryIndex({
      indexName: DUE_INDEX,
      partitionKey: { name: DUE_PARTITION_KEY, type: AttributeType.STRING },
      sortKey: { name: DUE_SORT_KEY, type: AttributeType.NUMBER },
      projectionType: ProjectionType.KEYS_ONLY,
    });
    stage.alarms.add(this, 'table-throttles', {
      metric: this.throttles(Duration.minutes(5)),
      above: 10,
      periods: 2,
      runbook: 'Table throttles',
    });
  }

  /** Requests that the table refused for being too many at once. */
  throttles(period: Duration): MathExpression {
    const options = { period, statistic: Stats.SUM };
    return new MathExpression({
      expression: 'reads + writes',
      label: 'throttled',
      period,
      usingMetrics: {
        reads: this.table.metric('ReadThrottleEvents', options),
        writes: this.table.metric('WriteThrottleEvents', options),
      },
    });
  }
}
