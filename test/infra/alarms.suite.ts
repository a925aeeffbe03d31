import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FUNCTION_NAMES } from '../../infra/bundling.ts';
import { at, flat, list, REPOSITORY, type Resource, statements, synthStack } from '../support/synth.ts';

const stack = synthStack();
const alarms = stack.of('AWS::CloudWatch::Alarm');
const runbook = readFileSync(join(REPOSITORY, 'docs/runbook.md'), 'utf8');
const headings = [...runbook.matchAll(/^## (.+)$/gm)].map((match) => match[1]);

function headingOf(alarm: Resource): string {
  return /^What to do: docs\/runbook\.md, "(.+)"$/.exec(String(alarm.properties['AlarmDescription']))?.[1] ?? '';
}

/** Alarms of a metric on one thing. */
function watching(metric: string, dimension: string, id: string): readonly Resource[] {
  return alarms.filter(
    (alarm) =>
      alarm.properties['MetricName'] === metric &&
      list(alarm.properties['Dimensions']).some(
        (item) => at(item, 'Name') === dimension && JSON.stringify(at(item, 'Value')).includes(`"${id}"`),
      ),
  );
}

describe('alarms', () => {
  it.each(alarms.map((alarm) => [String(alarm.properties['AlarmName']), alarm] as const))(
    '%s names its heading in the runbook',
    (_name, alarm) => {
      expect(headings).toContain(headingOf(alarm));
    },
  );

  it('are all there are headings for', () => {
    expect(new Set(headings)).toEqual(new Set(alarms.map(headingOf)));
  });

  it('go off at the first message in any dead-letter queue', () => {
    const dead = stack.of('AWS::SQS::Queue').filter((queue) => /DeadLetters/.test(queue.id));
    expect(dead).toHaveLength(3);
    for (const queue of dead) {
      const [alarm] = watching('ApproximateNumberOfMessagesVisible', 'QueueName', queue.id);
      expect(alarm?.properties).toMatchObject({
        Threshold: 0,
        ComparisonOperator: 'GreaterThanThreshold',
        EvaluationPeriods: 1,
      });
    }
  });

  it.each(FUNCTION_NAMES)('watch errors and throttles of %s', (name) => {
    expect(watching('Errors', 'FunctionName', stack.fn(name).id)).toHaveLength(1);
    expect(watching('Throttles', 'FunctionName', stack.fn(name).id)).toHaveLength(1);
  });

  it('watch what waits, what the API fails at, what the table refuses, and a sweep that does not run', () => {
    expect(
      watching('ApproximateAgeOfOldestMessage', 'QueueName', stack.one('AWS::SQS::Queue', /^IntakeQueue/).id),
    ).toHaveLength(1);
    expect(alarms.filter((alarm) => alarm.properties['MetricName'] === '5xx')).toHaveLength(1);
    expect(JSON.stringify(alarms)).toContain('WriteThrottleEvents');
    const [silent] = watching('Invocations', 'FunctionName', stack.fn('sweep').id);
    expect(silent?.properties).toMatchObject({
      ComparisonOperator: 'LessThanThreshold',
      TreatMissingData: 'breaching',
    });
  });

  it('watch the ends of the work itself: stale, refused, over budget, failed', () => {
    const own = alarms.filter((alarm) => JSON.stringify(alarm.properties).includes('"Stillroom"'));
    expect(own.map(headingOf).sort()).toEqual([
      'Consolidations are refused',
      'Consolidations are stale',
      'Extractions fail',
      'Users are over their budget',
    ]);
  });

  it('tell nobody by default, an address or a topic where one is given', () => {
    expect(stack.of('AWS::SNS::Topic')).toEqual([]);
    const mailed = synthStack({ 'alarm-email': 'ops@example.org' });
    expect(mailed.one('AWS::SNS::Subscription').properties).toMatchObject({
      Protocol: 'email',
      Endpoint: 'ops@example.org',
    });
    const [policy, ...more] = mailed.of('AWS::SNS::TopicPolicy');
    expect(more).toEqual([]);
    const document = at(policy?.properties, 'PolicyDocument');
    const allowed = statements(document).findIndex((item) => item.effect === 'Allow');
    expect(at(document, 'Statement', allowed)).toEqual({
      Sid: 'AlarmsPublish',
      Effect: 'Allow',
      Principal: { Service: 'cloudwatch.amazonaws.com' },
      Action: 'sns:Publish',
      Resource: { Ref: mailed.one('AWS::SNS::Topic').id },
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    });
    expect(statements(document).map((item) => item.effect)).toContain('Deny');
    const topic = 'arn:aws:sns:eu-central-1:111122223333:ops';
    const called = synthStack({ 'alarm-topic-arn': topic });
    expect(called.of('AWS::SNS::Topic')).toEqual([]);
    for (const alarm of called.of('AWS::CloudWatch::Alarm')) expect(alarm.properties['AlarmActions']).toEqual([topic]);
    for (const alarm of mailed.of('AWS::CloudWatch::Alarm'))
      expect(list(alarm.properties['AlarmActions'])).toHaveLength(1);
  });
});

describe('our own metrics', () => {
  it('are looked up under the dimensions that the code sends: service, stage and the tags', () => {
    const metrics = [...JSON.stringify(stack.template).matchAll(/"MetricName":"(stillroom\.[\w.]+)"/g)].map(
      (match) => match[1],
    );
    expect(metrics).toContain('stillroom.phase2');
    const failed = alarms.find((alarm) => headingOf(alarm) === 'Extractions fail');
    expect(failed?.properties['Dimensions']).toEqual([
      { Name: 'service', Value: 'stillroom' },
      { Name: 'stage', Value: 'dev' },
      { Name: 'status', Value: 'failed' },
    ]);
  });

  it('count log lines that our code writes', () => {
    const patterns = stack.of('AWS::Logs::MetricFilter').map((item) => item.properties['FilterPattern']);
    expect(patterns.sort()).toEqual([
      '{ ($.message = "consolidation.ended") && ($.code = "artifacts.*") }',
      '{ ($.message = "consolidation.ended") && ($.code = "budget.*") }',
      '{ ($.message = "extraction.ended") && ($.outcome = "deferred(budget)") }',
    ]);
  });
});

describe('the dashboard', () => {
  const body = flat(stack.one('AWS::CloudWatch::Dashboard').properties['DashboardBody']);

  it.each([
    'age of the oldest',
    'by outcome',
    'Tokens',
    'Money',
    'Lock waits',
    'Versions',
    'errors',
    'Duration',
    'API',
  ])('shows %s', (words) => {
    expect(body).toContain(words);
  });

  it('is one, of this stage', () => {
    expect(stack.one('AWS::CloudWatch::Dashboard').properties['DashboardName']).toBe('stillroom-dev-overview');
    expect(() => JSON.parse(body)).not.toThrow();
  });
});
