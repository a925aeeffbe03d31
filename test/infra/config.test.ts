import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../core/settings.ts';
import { DAY_MS } from '../../core/time.ts';
import { ConfigError, type DeployConfig, NO_ISSUER, readConfig } from '../../infra/config.ts';

function read(context: Readonly<Record<string, unknown>>): DeployConfig {
  return readConfig((key) => context[key]);
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
    ['rollout-retention-days', '0'],
    ['log-days', '31'],
    ['kms-key-arn', 'alias/mine'],
    ['alarm-email', 'nobody'],
    ['alarm-topic-arn', 'arn:aws:sqs:eu-central-1:111122223333:q'],
    ['extraction-concurrency', '1'],
    ['region', 'Frankfurt'],
    ['removal', 'maybe'],
  ])('refuses %s=%s and names the key', (key, value) => {
    expect(fault({ [key]: value })).toContain(`context ${key}:`);
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
