import { Duration } from 'aws-cdk-lib';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { EventInvokeConfig } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { DeadLetters } from './dead-letters.ts';
import { queryDue, sendDeadLetters, sendMessages, startConsolidation, useItems } from './grants.ts';
import { type StageScope, stageName } from './stage-scope.ts';
import { StillroomFunction } from './stillroom-function.ts';
import type { StillroomTable } from './table.ts';

const EVERY = Duration.minutes(5);
/** Ends before the next pass begins. */
const TIMEOUT = Duration.minutes(4);

export interface SweepProps {
  readonly stage: StageScope;
  readonly table: StillroomTable;
  readonly rollouts: IQueue;
  /** Qualified ARN of `phase2`. */
  readonly consolidationArn: string;
}

/** The clock of the system: every 5 minutes what is due is handed on. A pass that fails is not repeated; the next one comes. */
export class Sweep extends Construct {
  readonly sweep: StillroomFunction;
  readonly deadLetters: DeadLetters;

  constructor(scope: Construct, id: string, props: SweepProps) {
    super(scope, id);
    const { stage } = props;
    this.deadLetters = new DeadLetters(this, 'DeadLetters', {
      stage,
      part: 'sweep-dead-letters',
      runbook: 'Sweeps in the dead-letter queue',
    });
    this.sweep = this.#sweep(props);
    new EventInvokeConfig(this, 'Invocations', {
      function: this.sweep.function,
      retryAttempts: 0,
      maxEventAge: EVERY,
    });
    new Rule(this, 'Schedule', {
      ruleName: stageName(stage.config, 'sweep'),
      description: 'Hands on what is due',
      schedule: Schedule.rate(EVERY),
      targets: [
        new LambdaFunction(this.sweep.function, {
          event: RuleTargetInput.fromObject({}),
          deadLetterQueue: this.deadLetters.queue,
          retryAttempts: 0,
          maxEventAge: EVERY,
        }),
      ],
    });
    stage.alarms.add(this, 'sweep-silent', {
      metric: this.sweep.function.metricInvocations({ period: Duration.minutes(15), statistic: 'Sum' }),
      below: 1,
      runbook: 'The sweep is silent',
    });
  }

  #sweep({ stage, table, rollouts, consolidationArn }: SweepProps): StillroomFunction {
    return new StillroomFunction(this, 'Sweep', {
      stage,
      name: 'sweep',
      description: 'Hands on what is due, every 5 minutes',
      memoryMb: 512, // waits for the network; parses nothing
      timeout: TIMEOUT,
      deadLetters: this.deadLetters.queue,
      environment: {
        TABLE_NAME: table.table.tableName,
        QUEUE_URL: rollouts.queueUrl,
        CONSOLIDATION_FUNCTION: consolidationArn,
      },
      grants: [
        queryDue(table.table),
        useItems(table.table, 'PostponeJobs', ['UpdateItem', 'GetItem']),
        sendMessages(rollouts),
        startConsolidation(consolidationArn),
        sendDeadLetters(this.deadLetters.queue),
      ],
    });
  }
}
