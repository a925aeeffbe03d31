import { describe, expect, it } from 'vitest';
import { readEnv } from '../../../functions/phase2/env.ts';
import { readEnv as readSweepEnv } from '../../../functions/sweep/env.ts';

const ENV = {
  STAGE: 'test',
  TABLE_NAME: 'table',
  MEMORIES_BUCKET: 'memories',
  MODEL_SECRET_ARN: 'arn:secret',
  CONSOLIDATION_MODEL: 'model-1',
};

describe('the environment of phase2', () => {
  it('has defaults for what a deployment need not say, and takes empty for unset', () => {
    expect(readEnv({ ...ENV, MODEL_BASE_URL: '', DAILY_TOKEN_BUDGET: '' })).toEqual({
      stage: 'test',
      tableName: 'table',
      memoriesBucket: 'memories',
      templatesFolder: '/opt/templates',
      modelSecretArn: 'arn:secret',
      modelBaseUrl: 'https://api.openai.com/v1',
      modelApi: 'responses',
      consolidationModel: 'model-1',
      dailyTokenBudget: null,
      oneShotTokens: 64_000,
    });
    expect(readEnv({ ...ENV, DAILY_TOKEN_BUDGET: '500000', MODEL_API: 'chat' })).toMatchObject({
      dailyTokenBudget: 500_000,
      modelApi: 'chat',
    });
  });

  it.each(Object.keys(ENV))('names what is missing: %s', (name) => {
    expect(() => readEnv({ ...ENV, [name]: undefined })).toThrow(name);
  });
});

it('the environment of sweep names what is missing', () => {
  const env = {
    STAGE: 'test',
    TABLE_NAME: 'table',
    QUEUE_URL: 'https://sqs.eu-central-1.amazonaws.com/000000000000/rollouts',
    CONSOLIDATION_FUNCTION: 'arn:phase2:live',
  };
  expect(readSweepEnv(env)).toMatchObject({ tableName: 'table', consolidationFunction: 'arn:phase2:live' });
  for (const name of Object.keys(env)) expect(() => readSweepEnv({ ...env, [name]: undefined })).toThrow(name);
});
