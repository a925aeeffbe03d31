import { describe, expect, it } from 'vitest';
import { FUNCTION_NAMES } from '../../infra/bundling.ts';
import { at, grantsOf, synthStack } from '../support/synth.ts';

const KEY = 'arn:aws:kms:eu-central-1:111122223333:key/00000000-0000-0000-0000-000000000000';
const dev = synthStack();
const prod = synthStack({ stage: 'prod' });
const keyed = synthStack({ stage: 'prod', 'kms-key-arn': KEY, 'alarm-email': 'ops@example.org' });

/** Names that we give; everything else is named by CloudFormation, after the stack. */
function givenNames(stack: typeof dev): readonly string[] {
  const NAMES = ['FunctionName', 'QueueName', 'Name', 'LayerName', 'AlarmName', 'DashboardName', 'TopicName'];
  const NAMED =
    /^AWS::(Lambda::(Function|LayerVersion)|SQS::Queue|Events::Rule|ApiGatewayV2::Api|CloudWatch::|SNS::Topic)/;
  return stack.resources
    .filter((item) => NAMED.test(item.type))
    .flatMap((item) =>
      NAMES.flatMap((name) => (typeof item.properties[name] === 'string' ? [item.properties[name]] : [])),
    );
}

describe('stages', () => {
  it('stand side by side: no name is given twice', () => {
    expect(givenNames(dev).length).toBeGreaterThan(20);
    for (const name of givenNames(dev)) expect(name).toMatch(/^stillroom-dev-/);
    for (const name of givenNames(prod)) expect(name).toMatch(/^stillroom-prod-/);
  });

  it('leave data unnamed, so that a restored or retained store is never in the way of a new one', () => {
    for (const type of ['AWS::S3::Bucket', 'AWS::DynamoDB::Table', 'AWS::SecretsManager::Secret'])
      for (const item of dev.of(type))
        for (const name of ['BucketName', 'TableName', 'Name']) expect(item.properties[name]).toBeUndefined();
  });

  it('mark everything that can be marked', () => {
    for (const type of [
      'AWS::S3::Bucket',
      'AWS::DynamoDB::Table',
      'AWS::SQS::Queue',
      'AWS::Lambda::Function',
      'AWS::IAM::Role',
    ])
      for (const item of prod.of(type)) {
        expect(item.properties['Tags']).toContainEqual({ Key: 'application', Value: 'stillroom' });
        expect(item.properties['Tags']).toContainEqual({ Key: 'stage', Value: 'prod' });
      }
  });
});

describe('functions', () => {
  it.each(FUNCTION_NAMES)(
    '%s runs on arm64 and Node 24, with source maps, a description and a log group that forgets',
    (name) => {
      const { properties } = dev.fn(name);
      expect(properties).toMatchObject({ Architectures: ['arm64'], Runtime: 'nodejs24.x', Handler: 'index.handler' });
      expect(at(properties, 'Environment', 'Variables', 'NODE_OPTIONS')).toBe('--enable-source-maps');
      expect(String(properties['Description'])).not.toBe('');
      expect(at(properties, 'LoggingConfig', 'LogGroup')).toBeDefined();
      expect(properties['VpcConfig']).toBeUndefined();
    },
  );

  it('find the prompt templates in a layer', () => {
    const layer = dev.one('AWS::Lambda::LayerVersion');
    const told = FUNCTION_NAMES.filter((name) =>
      JSON.stringify(dev.fn(name).properties['Layers'] ?? '').includes(layer.id),
    );
    expect(told).toEqual(['phase1', 'phase2', 'read', 'control', 'mcp']);
  });

  it('log for 30 days, or as long as was asked', () => {
    for (const group of dev.of('AWS::Logs::LogGroup')) expect(group.properties['RetentionInDays']).toBe(30);
    for (const group of synthStack({ 'log-days': '7' }).of('AWS::Logs::LogGroup'))
      expect(group.properties['RetentionInDays']).toBe(7);
  });
});

describe("the customer's own key", () => {
  it('encrypts everything that can be encrypted with it', () => {
    for (const bucket of keyed.of('AWS::S3::Bucket')) {
      const rule = at(bucket.properties, 'BucketEncryption', 'ServerSideEncryptionConfiguration', 0);
      expect(at(rule, 'ServerSideEncryptionByDefault', 'KMSMasterKeyID')).toBe(KEY);
      expect(at(rule, 'BucketKeyEnabled')).toBe(true);
    }
    expect(at(keyed.one('AWS::DynamoDB::Table').properties, 'SSESpecification', 'KMSMasterKeyId')).toBe(KEY);
    for (const queue of keyed.of('AWS::SQS::Queue')) expect(queue.properties['KmsMasterKeyId']).toBe(KEY);
    for (const group of keyed.of('AWS::Logs::LogGroup')) expect(group.properties['KmsKeyId']).toBe(KEY);
    for (const name of FUNCTION_NAMES) expect(keyed.fn(name).properties['KmsKeyArn']).toBe(KEY);
    expect(keyed.one('AWS::SecretsManager::Secret').properties['KmsKeyId']).toBe(KEY);
  });

  it('is not asked of CloudWatch, which a key lets in only where its policy says so: alarms reach people without it', () => {
    expect(keyed.one('AWS::SNS::Topic').properties['KmsMasterKeyId']).toBeUndefined();
  });

  it.each(FUNCTION_NAMES)('may be used by %s', (name) => {
    const uses = grantsOf(keyed, name).filter((item) => item.resources.includes(KEY));
    expect(uses.map((item) => item.sid)).toEqual(['UseKey']);
    expect(grantsOf(dev, name).some((item) => item.actions.some((action) => action.startsWith('kms:')))).toBe(false);
  });
});
