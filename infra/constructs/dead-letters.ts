import { Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { acknowledge } from './findings.ts';
import { type StageScope, stageName } from './stage-scope.ts';

/** How every queue is kept: encrypted, and by TLS only. */
export function queueProps(stage: StageScope, part: string): QueueProps {
  return {
    queueName: stageName(stage.config, part),
    enforceSSL: true,
    retentionPeriod: Duration.days(14),
    ...(stage.key
      ? { encryption: QueueEncryption.KMS, encryptionMasterKey: stage.key }
      : { encryption: QueueEncryption.SQS_MANAGED }),
  };
}

/** A queue for what could not be done, 14 days, with its alarm. What is in it is lost nowhere: the table has it too. */
export class DeadLetters extends Construct {
  readonly queue: Queue;

  /** @param props.runbook the heading in docs/runbook.md that tells how to look and redrive */
  constructor(
    scope: Construct,
    id: string,
    props: { readonly stage: StageScope; readonly part: string; readonly runbook: string },
  ) {
    super(scope, id);
    this.queue = new Queue(this, 'Queue', queueProps(props.stage, props.part));
    acknowledge(this.queue, { 'AwsSolutions-SQS3': 'This is a dead-letter queue.' });
    props.stage.alarms.addDeadLetters(this, props.part, this.queue, props.runbook);
  }
}
