import { describe, expect, it } from 'vitest';
import { readEnv } from '../../../functions/phase1/env.ts';

const VARIABLES = {
  STAGE: 'test',
  TABLE_NAME: 'table',
  ROLLOUTS_BUCKET: 'rollouts',
  MEMORIES_BUCKET: 'memories',
  QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/123456789012/rollouts',
  MODEL_SECRET_ARN: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:model-key-a1b2c3',
  EXTRACT_MODEL: 'model-1',
};

describe('the environment of phase1', () => {
  it('has defaults where a deployment may leave a choice open', () => {
    expect(readEnv(VARIABLES)).toEqual({
      stage: 'test',
      tableName: 'table',
      rolloutsBucket: 'rollouts',
      memoriesBucket: 'memories',
      queueUrl: VARIABLES.QUEUE_URL,
      templatesFolder: '/opt/templates',
      modelSecretArn: VARIABLES.MODEL_SECRET_ARN,
      modelBaseUrl: 'https://api.openai.com/v1',
      modelApi: 'responses',
      extractModel: 'model-1',
      dailyTokenBudget: null,
    });
  });

  it('takes an empty variable for none: a budget of nothing must be said', () => {
    expect(readEnv({ ...VARIABLES, DAILY_TOKEN_BUDGET: '' }).dailyTokenBudget).toBeNull();
    expect(readEnv({ ...VARIABLES, DAILY_TOKEN_BUDGET: '0' }).dailyTokenBudget).toBe(0);
    expect(readEnv({ ...VARIABLES, DAILY_TOKEN_BUDGET: '50000' }).dailyTokenBudget).toBe(50_000);
  });

  it.each(Object.keys(VARIABLES))('does not start without %s, and names it', (name) => {
    expect(() => readEnv({ ...VARIABLES, [name]: '' })).toThrow(name);
  });

  it.each([
    ['DAILY_TOKEN_BUDGET', 'many'],
    ['DAILY_TOKEN_BUDGET', '-1'],
    ['MODEL_API', 'assistants'],
    ['MODEL_BASE_URL', 'api.example.com'],
  ])('does not start with %s=%s', (name, value) => {
    expect(() => readEnv({ ...VARIABLES, [name]: value })).toThrow(name);
  });
});
