import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../core/settings.ts';
import { SECOND_MS } from '../../core/time.ts';
import { at, flat, grantsOf, list, statements, synthStack } from '../support/synth.ts';

const stack = synthStack();
const intake = stack.one('AWS::SQS::Queue', /^IntakeQueue/);
const mapping = stack.one('AWS::Lambda::EventSourceMapping');

function timeoutOf(name: string): number {
  return Number(stack.fn(name).properties['Timeout']);
}

describe('the queue of rollouts', () => {
  it('hides a message for at least six times the time-out of its function (C8)', () => {
    expect(Number(intake.properties['VisibilityTimeout'])).toBeGreaterThanOrEqual(6 * timeoutOf('phase1'));
    expect(Number(intake.properties['VisibilityTimeout'])).toBeLessThanOrEqual(12 * 3_600);
  });

  it('gives back failed messages one by one (C7)', () => {
    expect(mapping.properties['FunctionResponseTypes']).toEqual(['ReportBatchItemFailures']);
  });

  it('limits concurrency on the mapping, never by a reservation, so that no healthy message is dead-lettered (C10)', () => {
    expect(mapping.properties['ScalingConfig']).toEqual({ MaximumConcurrency: 8 });
    for (const item of stack.of('AWS::Lambda::Function'))
      expect(item.properties['ReservedConcurrentExecutions']).toBeUndefined();
    const wider = synthStack({ 'extraction-concurrency': '20' }).one('AWS::Lambda::EventSourceMapping');
    expect(wider.properties['ScalingConfig']).toEqual({ MaximumConcurrency: 20 });
  });

  it('gives out no more at once than the slowest model calls leave time for', () => {
    const worst = (Number(mapping.properties['BatchSize']) * LIMITS.modelTimeoutMs) / SECOND_MS;
    expect(worst).toBeLessThan(timeoutOf('phase1'));
  });

  it('is worked on by leases that outlive the function', () => {
    expect(LIMITS.extractionLeaseMs).toBeGreaterThan(timeoutOf('phase1') * SECOND_MS);
  });

  it('is a standard queue, in which message groups are shared fairly; phase1 itself sends threads to it in turns (C21)', () => {
    expect(intake.properties['FifoQueue']).toBeUndefined();
    const queue = flat(at(mapping.properties, 'EventSourceArn'));
    const sends = grantsOf(stack, 'phase1').filter((item) => item.actions.includes('sqs:SendMessage'));
    expect(sends.map((item) => [item.actions, item.resources])).toEqual([[['sqs:SendMessage'], [queue]]]);
  });

  it('gives up a message after five receives', () => {
    expect(at(intake.properties, 'RedrivePolicy', 'maxReceiveCount')).toBe(5);
  });
});

describe('every queue', () => {
  it.each(stack.of('AWS::SQS::Queue').map((queue) => [queue.id, queue] as const))(
    '%s keeps 14 days, is encrypted and speaks TLS only',
    (id, queue) => {
      expect(queue.properties['MessageRetentionPeriod']).toBe(14 * 86_400);
      expect(queue.properties['SqsManagedSseEnabled']).toBe(true);
      const policies = stack
        .of('AWS::SQS::QueuePolicy')
        .filter((item) => list(item.properties['Queues']).some((ref) => flat(ref) === `<${id}>`));
      const denied = policies
        .flatMap((item) => statements(item.properties['PolicyDocument']))
        .filter((item) => item.effect === 'Deny' && at(item.condition, 'Bool', 'aws:SecureTransport') === 'false');
      expect(denied.map((item) => item.actions)).toEqual([['sqs:*']]);
    },
  );

  it('that is no dead-letter queue has one', () => {
    const targets = new Set(
      stack.of('AWS::SQS::Queue').flatMap((queue) => {
        const arn = at(queue.properties, 'RedrivePolicy', 'deadLetterTargetArn');
        return arn === undefined ? [] : [flat(arn)];
      }),
    );
    const plain = stack.of('AWS::SQS::Queue').filter((queue) => !/DeadLetters/.test(queue.id));
    expect(plain.map((queue) => queue.id)).toEqual([intake.id]);
    expect(targets).toEqual(new Set([`<${stack.one('AWS::SQS::Queue', /^IntakeDeadLetters/).id}.Arn>`]));
  });
});

describe('asynchronous invocations', () => {
  it.each(['phase2', 'sweep'])(
    'of %s are never retried, and end in a dead-letter queue when they fail (C15)',
    (name) => {
      const target = stack.fn(name);
      expect(flat(at(target.properties, 'DeadLetterConfig', 'TargetArn'))).toMatch(/DeadLettersQueue.*\.Arn>$/);
      const config = stack
        .of('AWS::Lambda::EventInvokeConfig')
        .find((item) => flat(item.properties['FunctionName']) === `<${target.id}>`);
      expect(config?.properties['MaximumRetryAttempts']).toBe(0);
    },
  );

  it('start consolidations by an alias of a published version, as a durable function must be', () => {
    const phase2 = stack.fn('phase2');
    const alias = stack.one('AWS::Lambda::Alias');
    expect(phase2.properties['DurableConfig']).toEqual({ ExecutionTimeout: 6 * 3_600, RetentionPeriodInDays: 1 });
    expect(flat(alias.properties['FunctionName'])).toBe(`<${phase2.id}>`);
    const config = stack.one('AWS::Lambda::EventInvokeConfig', /Alias/);
    expect(JSON.stringify(config.properties['Qualifier'])).toContain(alias.id);
    for (const name of ['sweep', 'control'])
      expect(at(stack.fn(name).properties, 'Environment', 'Variables', 'CONSOLIDATION_FUNCTION')).toEqual({
        Ref: alias.id,
      });
    expect(stack.one('AWS::Lambda::Version').whole).toMatchObject({ DeletionPolicy: 'Retain' });
  });

  it('leave a model call of a consolidation the time that it may take', () => {
    expect(timeoutOf('phase2') * SECOND_MS).toBeGreaterThan(2 * LIMITS.agentCallTimeoutMs);
    expect(timeoutOf('phase2')).toBeLessThanOrEqual(900);
  });
});

describe('the schedule', () => {
  const rule = stack.one('AWS::Events::Rule');
  const target = at(rule.properties, 'Targets', 0);

  it('runs the sweep every 5 minutes, and a pass ends before the next begins', () => {
    expect(rule.properties).toMatchObject({ ScheduleExpression: 'rate(5 minutes)', State: 'ENABLED' });
    expect(LIMITS.sweepEveryMs).toBe(5 * 60 * SECOND_MS);
    expect(timeoutOf('sweep') * SECOND_MS).toBeLessThan(LIMITS.sweepEveryMs);
  });

  it('keeps what it could not deliver', () => {
    expect(at(target, 'RetryPolicy', 'MaximumRetryAttempts')).toBe(0);
    expect(flat(at(target, 'DeadLetterConfig', 'Arn'))).toContain('SweepDeadLetters');
  });
});

describe('stages whose names begin alike', () => {
  /** Like the bucket that CloudFormation makes: stack and logical id in small letters, then a random part. */
  const bucketOf = (stage: string): string =>
    `Stillroom-${stage}-${synthStack({ stage }).one('AWS::S3::Bucket', /Rollouts/).id}-1x2y3z4a5b6c`.toLowerCase();
  const admits = (stage: string, bucket: string): boolean => {
    const policies = synthStack({ stage }).of('AWS::SQS::QueuePolicy');
    const uploads = policies
      .flatMap((item) => statements(item.properties['PolicyDocument']))
      .find((item) => item.sid === 'UploadsSendMessages');
    const source = flat(at(uploads?.condition, 'ArnLike', 'aws:SourceArn'));
    const [, start] = /^arn:<AWS::Partition>:s3:::([a-z0-9-]+)\*$/.exec(source) ?? [];
    if (start === undefined) throw new Error(`not the beginning of a bucket's name: ${source}`);
    return bucket.startsWith(start);
  };

  it.each([
    ['prod', 'prod-eu'],
    ['a', 'a-storagerol'],
  ])('send to their own queues: buckets of %s and %s are not taken for each other', (short, long) => {
    expect(admits(short, bucketOf(short))).toBe(true);
    expect(admits(long, bucketOf(long))).toBe(true);
    expect(admits(short, bucketOf(long))).toBe(false);
    expect(admits(long, bucketOf(short))).toBe(false);
  });

  it('have stack names that CloudFormation does not shorten in the name of a bucket', () => {
    expect(bucketOf('abcdefghijkl').length).toBeLessThanOrEqual(63);
  });
});
