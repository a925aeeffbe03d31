import { Aws, Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { DeployConfig } from '../config.ts';

export interface AlarmRule {
  readonly metric: IMetric;
  /** Alarms when the metric is above it, */
  readonly above?: number;
  /** or below it, or missing: one of the two is given. */
  readonly below?: number;
  /** How many periods in a row; 1 by default. */
  readonly periods?: number;
  /** The heading in docs/runbook.md that says what to do. */
  readonly runbook: string;
}

/** Every alarm of a stage. Each names its page in the runbook; all go to one topic, where somebody listens. */
export class Alarms extends Construct {
  readonly #stage: string;
  readonly #topic: ITopic | undefined;
  readonly #all: Alarm[] = [];

  constructor(scope: Construct, id: string, props: { readonly config: DeployConfig }) {
    super(scope, id);
    this.#stage = props.config.stage;
    this.#topic = this.#openTopic(props.config);
  }

  get all(): readonly Alarm[] {
    return this.#all;
  }

  /** Missing values count as good, since an idle deployment sends none, except where silence itself is the fault. */
  add(scope: Construct, id: string, rule: AlarmRule): Alarm {
    const alarm = new Alarm(scope, id, {
      alarmName: `stillroom-${this.#stage}-${id}`,
      alarmDescription: `What to do: docs/runbook.md, "${rule.runbook}"`,
      metric: rule.metric,
      evaluationPeriods: rule.periods ?? 1,
      ...(rule.below === undefined
        ? {
            threshold: rule.above ?? 0,
            comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
            treatMissingData: TreatMissingData.NOT_BREACHING,
          }
        : {
            threshold: rule.below,
            comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
            treatMissingData: TreatMissingData.BREACHING,
          }),
    });
    if (this.#topic) {
      alarm.addAlarmAction(new SnsAction(this.#topic));
      alarm.addOkAction(new SnsAction(this.#topic));
    }
    this.#all.push(alarm);
    return alarm;
  }

  /** One message in a dead-letter queue is one too many. */
  addDeadLetters(scope: Construct, id: string, queue: IQueue, runbook: string): void {
    const metric = queue.metricApproximateNumberOfMessagesVisible({
      period: Duration.minutes(1),
      statistic: Stats.MAXIMUM,
    });
    this.add(scope, id, { metric, above: 0, runbook });
  }

  /** Errors: failures that the function did not settle itself. Throttles: the account's concurrency is used up. */
  addFunction(scope: Construct, name: string, target: IFunction): void {
    const period = Duration.minutes(5);
    this.add(scope, `${name}-errors`, {
      metric: target.metricErrors({ period, statistic: Stats.SUM }),
      above: 0,
      periods: 2,
      runbook: 'Function errors',
    });
    this.add(scope, `${name}-throttles`, {
      metric: target.metricThrottles({ period, statistic: Stats.SUM }),
      above: 0,
      periods: 3,
      runbook: 'Function throttles',
    });
  }

  /**
   * Never under the customer's key: its policy would have to let CloudWatch in, and without that line every alarm is lost
   * silently. An alarm holds names and numbers of the deployment, nothing of a user.
   */
  #openTopic(config: DeployConfig): ITopic | undefined {
    if (config.alarmTopicArn !== undefined) return Topic.fromTopicArn(this, 'Topic', config.alarmTopicArn);
    if (config.alarmEmail === undefined) return undefined;
    const topic = new Topic(this, 'Topic', { topicName: `stillroom-${config.stage}-alarms`, enforceSSL: true });
    // A policy of one's own replaces the default one, which lets the account's alarms publish.
    topic.addToResourcePolicy(
      new PolicyStatement({
        sid: 'AlarmsPublish',
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    );
    topic.addSubscription(new EmailSubscription(config.alarmEmail));
    return topic;
  }
}
