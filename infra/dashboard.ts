import { Duration } from 'aws-cdk-lib';
import { Dashboard, GraphWidget, type IMetric, MathExpression, Stats, TextWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { ApiFunctions } from './constructs/api-functions.ts';
import type { Consolidation } from './constructs/consolidation.ts';
import type { FrontDoor } from './constructs/http-api.ts';
import type { Outcomes } from './constructs/outcomes.ts';
import type { RolloutIntake } from './constructs/rollout-intake.ts';
import { type StageScope, stageName } from './constructs/stage-scope.ts';
import type { StillroomFunction } from './constructs/stillroom-function.ts';
import type { Sweep } from './constructs/sweep.ts';
import type { StillroomTable } from './constructs/table.ts';

export interface DashboardParts {
  readonly stage: StageScope;
  readonly table: StillroomTable;
  readonly intake: RolloutIntake;
  readonly consolidation: Consolidation;
  readonly sweep: Sweep;
  readonly api: ApiFunctions;
  readonly frontDoor: FrontDoor;
  readonly outcomes: Outcomes;
}

const PERIOD = Duration.minutes(5);
const EXTRACTION_ENDS = ['succeeded', 'succeeded_no_output', 'skipped', 'deferred', 'failed'];
const CONSOLIDATION_ENDS = ['succeeded', 'succeeded_no_workspace_changes', 'failed'];
/** A run that found another one at work, or was asked for too early. */
const LOCK_WAITS = ['skipped_running', 'skipped_cooldown', 'skipped_retry_unavailable'];
const TOKEN_TYPES = ['input', 'cached_input', 'output'];

/** One page that answers: does work arrive, does it end well, what does it cost, do readers get their answers? */
export function createDashboard(scope: Construct, parts: DashboardParts): Dashboard {
  const dashboard = new Dashboard(scope, 'Dashboard', {
    dashboardName: stageName(parts.stage.config, 'overview'),
    defaultInterval: Duration.days(1),
  });
  dashboard.addWidgets(new TextWidget({ markdown: `# Stillroom, ${parts.stage.config.stage}`, width: 24, height: 1 }));
  dashboard.addWidgets(...arrival(parts), errors(parts));
  dashboard.addWidgets(...endings(parts));
  dashboard.addWidgets(...costs(parts));
  dashboard.addWidgets(...reading(parts));
  return dashboard;
}

function arrival({ intake, table }: DashboardParts): GraphWidget[] {
  const options = { period: PERIOD, statistic: Stats.MAXIMUM };
  return [
    graph('Rollouts: age of the oldest message (s)', [intake.queue.metricApproximateAgeOfOldestMessage(options)]),
    graph('Rollouts: waiting, and in the dead letters', [
      intake.queue.metricApproximateNumberOfMessagesVisible(options),
      intake.deadLetters.queue.metricApproximateNumberOfMessagesVisible(options),
      table.throttles(PERIOD),
    ]),
  ];
}

function errors({ intake, consolidation, sweep, api }: DashboardParts): GraphWidget {
  const functions: readonly StillroomFunction[] = [
    intake.phase1,
    consolidation.phase2,
    sweep.sweep,
    api.read,
    api.control,
    api.mcp,
  ];
  const options = { period: PERIOD, statistic: Stats.SUM };
  return graph('Function errors and throttles', [
    ...functions.map((item) => item.function.metricErrors(options)),
    ...functions.map((item) => item.function.metricThrottles(options)),
  ]);
}

function endings({ outcomes }: DashboardParts): GraphWidget[] {
  const of = (name: string, statuses: readonly string[]): IMetric[] =>
    statuses.map((status) => outcomes.metric(name, { status }).with({ label: status }));
  return [
    graph('Extractions by outcome', of('stillroom.phase1', EXTRACTION_ENDS)),
    graph('Versions: consolidations by outcome', [...of('stillroom.phase2', CONSOLIDATION_ENDS), outcomes.refused]),
    graph('Lock waits', of('stillroom.phase2', LOCK_WAITS)),
  ];
}

/** Prices differ by model and change: money is shown for a price that the reader sets in the expression. */
function costs({ outcomes }: DashboardParts): GraphWidget[] {
  const tokens = (phase: 'phase1' | 'phase2', type: string): IMetric =>
    outcomes.metric(`stillroom.${phase}.token_usage`, { token_type: type }).with({ label: `${phase} ${type}` });
  const usingMetrics = Object.fromEntries(
    (['phase1', 'phase2'] as const).flatMap((phase) =>
      TOKEN_TYPES.map((type) => [`${phase}_${type}`, tokens(phase, type)]),
    ),
  );
  const fresh =
    'FILL(phase1_input, 0) + FILL(phase2_input, 0) - FILL(phase1_cached_input, 0) - FILL(phase2_cached_input, 0)';
  const cached = 'FILL(phase1_cached_input, 0) + FILL(phase2_cached_input, 0)';
  const written = 'FILL(phase1_output, 0) + FILL(phase2_output, 0)';
  return [
    graph('Tokens', Object.values(usingMetrics)),
    graph('Money (USD, at 0.25 / 0.025 / 2 a million tokens: set your prices)', [
      new MathExpression({
        expression: `((${fresh}) * 0.25 + (${cached}) * 0.025 + (${written}) * 2) / 1000000`,
        label: 'USD',
        period: PERIOD,
        usingMetrics,
      }),
    ]),
    graph('Over budget', [outcomes.overBudget]),
  ];
}

function reading({ api, frontDoor }: DashboardParts): GraphWidget[] {
  const p99 = { period: PERIOD, statistic: Stats.percentile(99) };
  return [
    graph('Duration, 99 of 100 (ms)', [
      api.read.function.metricDuration(p99),
      api.control.function.metricDuration(p99),
      api.mcp.function.metricDuration(p99),
    ]),
    graph('API: requests', [frontDoor.api.metricCount({ period: PERIOD, statistic: Stats.SUM })]),
    graph('API: refused and failed', [
      frontDoor.api.metricClientError({ period: PERIOD, statistic: Stats.SUM }),
      frontDoor.api.metricServerError({ period: PERIOD, statistic: Stats.SUM }),
    ]),
  ];
}

function graph(title: string, left: IMetric[]): GraphWidget {
  return new GraphWidget({ title, left, width: 8, height: 6, period: PERIOD });
}
