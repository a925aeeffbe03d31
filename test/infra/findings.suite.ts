import { Annotations, App, Stack } from 'aws-cdk-lib';
import { Annotations as Found, Match } from 'aws-cdk-lib/assertions';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { type SynthesisedStack, synthStack } from '../support/synth.ts';

const KEY = 'arn:aws:kms:eu-central-1:111122223333:key/00000000-0000-0000-0000-000000000000';

function findings(app: App): readonly string[] {
  return new AwsSolutionsChecks(app).validateScope(app).violations.map((item) => item.ruleName);
}

function warnings(stack: SynthesisedStack): readonly string[] {
  const [child] = stack.app.node.children.filter((item) => item instanceof Stack);
  if (!(child instanceof Stack)) throw new Error('the app has no stack');
  return Found.fromStack(child)
    .findWarning('*', Match.anyValue())
    .map((item) => String(item.entry.data));
}

describe('cdk-nag', () => {
  it.each([
    ['as it comes', {}],
    [
      'with a key, an address, and signatures',
      { stage: 'prod', auth: 'iam', 'kms-key-arn': KEY, 'alarm-email': 'a@example.org' },
    ],
    [
      'with a secret and a topic of its own',
      { 'model-secret-arn': 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:m-AbCdEf' },
    ],
  ])('finds nothing in a stack %s', (_name, context) => {
    expect(findings(synthStack(context).app)).toEqual([]);
  });

  it('would find something', () => {
    const app = new App();
    new Queue(new Stack(app, 'Probe'), 'Open');
    expect(findings(app)).toContain('AwsSolutions-SQS4');
  });

  it('is answered with a reason wherever a finding is accepted', () => {
    const reasons = synthStack()
      .app.node.findAll()
      .flatMap((node) => node.node.metadata.filter((item) => item.type === 'aws:cdk:acknowledged-rules'))
      .flatMap((item) => Object.values(item.data ?? {}));
    expect(reasons.length).toBeGreaterThan(5);
    for (const reason of reasons) expect(String(reason).length).toBeGreaterThan(20);
  });
});

describe('warnings, which stop a strict deployment', () => {
  it('are one where nobody said whose tokens are good', () => {
    expect(warnings(synthStack())).toEqual([expect.stringContaining('context jwt-issuer is not set')]);
  });

  it('are none where somebody did', () => {
    expect(warnings(synthStack({ 'jwt-issuer': 'https://id.example' }))).toEqual([]);
    expect(warnings(synthStack({ auth: 'iam' }))).toEqual([]);
  });

  it('would be seen', () => {
    const app = new App();
    const stack = new Stack(app, 'Probe');
    Annotations.of(stack).addWarningV2('probe', 'seen');
    expect(Found.fromStack(stack).findWarning('*', Match.anyValue())).toHaveLength(1);
  });
});
