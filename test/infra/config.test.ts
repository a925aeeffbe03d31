import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../core/settings.ts';
import { DAY_MS } from '../../core/time.ts';
import { ConfigError, type DeployConfig, NO_ISSUER, readConfig } from '../../infra/config.ts';
import { cdkContext } from '../support/synth.ts';

function read(context: Readonly<Record<string, unknown>>): DeployConfig {
  return readConfig(context);
}

function fault(context: Readonly<Record<string, unknown>>): string {
  try {
    read(context);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('no fault was found');
}

describe('the configuration of a deployment', () => {
  it('has a default for everything, none of which can let anybody in or delete anything', () => {
    const config = read({});
    expect(config.stage).toBe('dev');
    expect(config.identity).toEqual({ mode: 'jwt', issuer: NO_ISSUER, audience: ['stillroom'], userClaim: 'sub' });
    expect(config.destroyData).toBe(false);
    expect(config.rolloutRetentionDays).toBe(30);
    expect(config.extractionConcurrency).toBe(LIMITS.extractionConcurrency);
  });

  it('keeps history at least as long as readers are promised it', () => {
    expect(read({}).historyDays * DAY_MS).toBe(LIMITS.historyDays * DAY_MS);
    expect(fault({ 'history-days': '89' })).toContain('context history-days');
  });

  it('takes numbers as text, as the command line gives them, and several audiences', () => {
    const config = read({
      'rollout-retention-days': '14',
      'jwt-audience': 'agents, people',
      'jwt-issuer': 'https://id.example',
    });
    expect(config.rolloutRetentionDays).toBe(14);
    expect(config.identity).toMatchObject({ audience: ['agents', 'people'], issuer: 'https://id.example' });
  });

  it('takes an empty value as none', () => {
    expect(read({ 'kms-key-arn': '', 'extract-model': '' })).toEqual(read({}));
  });

  it.each([
    ['stage', 'Prod'],
    ['stage', 'a-name-too-long'],
    ['auth', 'none'],
    ['jwt-issuer', 'http://id.example'],
    ['user-claim', 'a b'],
    ['model-base-url', 'http://models.example'],
    ['model-api', 'completions'],
    ['model-secret-arn', 'sk-1234'],
    ['daily-token-budget', '-1'],
    ['one-shot-tokens', '200001'],
    ['rollout-retention-days', '0'],
    ['log-days', '31'],
    ['jwt-issuer', 'https://user:word@id.example'],
    ['jwt-issuer', 'https://id.example/?tenant=1'],
    ['jwt-issuer', 'https://id.example/?'],
    ['jwt-issuer', 'https://id.example/#'],
    ['jwt-audience', ','],
    ['jwt-audience', 'agents,'],
    ['jwt-audience', 'agents, ,people'],
    ['kms-key-arn', 'alias/mine'],
    ['kms-key-arn', 'arn:aws:kms:eu-central-1:111122223333:alias/mine'],
    ['kms-key-arn', 'arn:aws:kms:::key/1'],
    ['kms-key-arn', 'arn:aws:kms:eu-central-1:111122223333:key/'],
    ['kms-key-arn', 'arn:aws:kms:eu-central-1:111122223333:key/1/2'],
    ['kms-key-arn', 'arn:aws:kms:eu-central-1:1111:key/1'],
    ['kms-key-arn', 'arn:other:kms:eu-central-1:111122223333:key/1'],
    ['model-secret-arn', 'arn:aws:secretsmanager:::secret:x'],
    ['alarm-email', 'nobody'],
    ['alarm-topic-arn', 'arn:aws:sqs:eu-central-1:111122223333:q'],
    ['extraction-concurrency', '1'],
    ['region', 'Frankfurt'],
    ['removal', 'maybe'],
  ])('refuses %s=%s and names the key', (key, value) => {
    expect(fault({ [key]: value })).toContain(`context ${key}:`);
  });

  it('takes the ARN of a key in every partition, and tells how to find the key of an alias', () => {
    for (const [partition, id] of [
      ['aws', 'eu-central-1:111122223333:key/00000000-0000-0000-0000-000000000000'],
      ['aws-cn', 'cn-north-1:111122223333:key/mrk-00000000000000000000000000000000'],
      ['aws-us-gov', 'us-gov-west-1:111122223333:key/1'],
    ]) {
      const arn = `arn:${partition}:kms:${id}`;
      expect(read({ 'kms-key-arn': arn }).kmsKeyArn).toBe(arn);
    }
    const alias = 'arn:aws:kms:eu-central-1:111122223333:alias/mine';
    expect(fault({ 'kms-key-arn': alias })).toContain('aws kms describe-key');
    const far = 'arn:aws:kms:us-east-1:111122223333:key/1';
    expect(fault({ 'kms-key-arn': far, region: 'eu-central-1' })).toContain('context kms-key-arn');
  });

  it.each([
    ['kms_key_arn', 'kms-key-arn'],
    ['kmsKeyArn', 'kms-key-arn'],
    ['Stage', 'stage'],
    ['alarm-mail', 'alarm-email'],
    ['retention-days', 'rollout-retention-days'],
    ['jwt-audiences', 'jwt-audience'],
  ])('refuses %s, which nobody reads, and names %s', (key, meant) => {
    expect(fault({ [key]: 'x' })).toBe(`context ${key}: not known; do you mean ${meant}?`);
  });

  it('refuses a key that is like none', () => {
    expect(fault({ elephant: 'x' })).toBe('context elephant: not known; docs/deploy.md lists the keys');
  });

  it("leaves the CDK's own keys alone", () => {
    const own = { 'aws:cdk:bundling-stacks': [], 'availability-zones:account=1:region=x': ['a'], 'cdk-nag': true };
    expect(read({ ...cdkContext(), ...own })).toEqual(read({}));
  });

  it('names every key with a fault at once', () => {
    expect(fault({ stage: '1', auth: 'no' }).split('\n')).toHaveLength(2);
  });

  it('destroys data for the stage dev only', () => {
    expect(read({ removal: 'destroy' }).destroyData).toBe(true);
    expect(fault({ removal: 'destroy', stage: 'prod' })).toContain('context removal');
  });

  it('refuses what does not go together', () => {
    expect(fault({ account: '111122223333' })).toContain('context region');
    const topic = 'arn:aws:sns:eu-central-1:111122223333:alarms';
    expect(fault({ 'alarm-email': 'a@example.org', 'alarm-topic-arn': topic })).toContain('context alarm-email');
  });
});
