import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { StageScope } from './stage-scope.ts';

/** As in adapters/telemetry: every metric of ours carries the dimensions `service` and `stage`, and those of its tags. */
const NAMESPACE = 'Stillroom';
const SERVICE = 'stillroom';

export interface OutcomesProps {
  readonly stage: StageScope;
  readonly phase1Logs: ILogGroup;
  readonly phase2Logs: ILogGroup;
}

interface Sampling {
  readonly statistic?: string;
  readonly period?: Duration;
}

/** How the work ends: what our own code counts (behaviours 1.X), what its log lines tell beyond that, and the alarms on both. */
export class Outcomes extends Construct {
  readonly #stageName: string;
  readonly refused: Metric;
  readonly overBudget: Metric;

  constructor(scope: Construct, id: string, { stage, phase1Logs, phase2Logs }: OutcomesProps) {
    super(scope, id);
    this.#stageName = stage.config.stage;
    const ended = { message: 'consolidation.ended' };
    this.refused = this.#countLines('consolidations_refused', [
      ['Refused', phase2Logs, { ...ended, code: 'artifacts.*' }],
    ]);
    this.overBudget = this.#countLines('over_budget', [
      ['ExtractionsOverBudget', phase1Logs, { message: 'extraction.ended', outcome: 'deferred(budget)' }],
      ['ConsolidationsOverBudget', phase2Logs, { ...ended, code: 'budget.*' }],
    ]);
    this.#addAlarms(stage);
  }

  /** A metric that our code sends, by the values of its tags. */
  metric(name: string, tags: Readonly<Record<string, string>>, sampling: Sampling = {}): Metric {
    return new Metric({
      namespace: NAMESPACE,
      metricName: name,
      dimensionsMap: { service: SERVICE, stage: this.#stageName, ...tags },
      statistic: sampling.statistic ?? Stats.SUM,
      period: sampling.period ?? Duration.minutes(5),
    });
  }

  /** 1 while runs are claimed and none of them succeeds. */
  #fruitless(period: Duration): IMetric {
    const runs = (status: string): Metric => this.metric('stillroom.phase2', { status }, { period });
    return new MathExpression({
      expression: 'IF(FILL(claimed, 0) > 0 AND FILL(published, 0) + FILL(unchanged, 0) == 0, 1, 0)',
      label: 'consolidations start and none succeeds',
      period,
      usingMetrics: {
        claimed: runs('claimed'),
        published: runs('succeeded'),
        unchanged: runs('succeeded_no_workspace_changes'),
      },
    });
  }

  #addAlarms({ alarms }: StageScope): void {
    const hour = Duration.hours(1);
    alarms.add(this, 'consolidations-stale', {
      metric: this.#fruitless(Duration.hours(6)),
      above: 0,
      runbook: 'Consolidations are stale',
    });
    alarms.add(this, 'consolidations-refused', {
      metric: this.refused.with({ period: hour }),
      above: 2,
      runbook: 'Consolidations are refused',
    });
    alarms.add(this, 'over-budget', {
      metric: this.overBudget.with({ period: hour }),
      above: 10,
      runbook: 'Users are over their budget',
    });
    alarms.add(this, 'extractions-failed', {
      metric: this.metric('stillroom.phase1', { status: 'failed' }, { period: hour }),
      above: 10,
      runbook: 'Extractions fail',
    });
  }

  /** Counts log lines whose fields have the given values; the field `message` is the event's name. */
  #countLines(
    name: string,
    sources: readonly (readonly [id: string, logs: ILogGroup, fields: Readonly<Record<string, string>>])[],
  ): Metric {
    for (const [id, logGroup, fields] of sources) {
      new MetricFilter(this, id, {
        logGroup,
        metricNamespace: NAMESPACE,
        metricName: name,
        metricValue: '1',
        dimensions: { stage: '$.stage' },
        filterPattern: FilterPattern.all(
          ...Object.entries(fields).map(([field, value]) => FilterPattern.stringValue(`$.${field}`, '=', value)),
        ),
      });
    }
    return new Metric({
      namespace: NAMESPACE,
      metricName: name,
      dimensionsMap: { stage: this.#stageName },
      statistic: Stats.SUM,
      period: Duration.minutes(5),
    });
  }
}
