import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { ModelConfig } from '../config.ts';
import { acknowledge } from './findings.ts';
import { dataRemoval, type StageScope, stageName } from './stage-scope.ts';

/** The secret with the key of the model's provider: the operator's own, or a new one to be filled in (docs/deploy.md). */
export class ModelKey extends Construct {
  readonly secretArn: string;

  constructor(scope: Construct, id: string, stage: StageScope) {
    super(scope, id);
    this.secretArn = stage.config.model.secretArn ?? this.#create(stage);
  }

  /** Born with a random value, which no provider takes: until it is filled in, calls are refused and everything stays due. */
  #create(stage: StageScope): string {
    const secret = new Secret(this, 'Secret', {
      description: `Key of the model's provider for ${stageName(stage.config, 'model')}`,
      generateSecretString: { generateStringKey: 'api_key', secretStringTemplate: '{}', excludePunctuation: true },
      removalPolicy: dataRemoval(stage.config),
      ...(stage.key ? { encryptionKey: stage.key } : {}),
    });
    acknowledge(secret, {
      'AwsSolutions-SMG4': "The provider's key cannot be made by AWS. A new one is taken up without a deployment.",
    });
    return secret.secretArn;
  }
}

/** How a function that calls the model finds it. */
export function modelEnvironment(model: ModelConfig, secretArn: string): Record<string, string> {
  return {
    MODEL_SECRET_ARN: secretArn,
    MODEL_API: model.api,
    ...(model.baseUrl === undefined ? {} : { MODEL_BASE_URL: model.baseUrl }),
    ...budgetEnvironment(model),
  };
}

/** What a user may spend a day, where the user's settings say nothing: for those that spend it, and for those that show it. */
export function budgetEnvironment(model: ModelConfig): Record<string, string> {
  return model.dailyTokenBudget === undefined ? {} : { DAILY_TOKEN_BUDGET: String(model.dailyTokenBudget) };
}

/** Up to how much material a consolidation is asked for in one call. */
export function oneShotEnvironment(model: ModelConfig): Record<string, string> {
  return model.oneShotTokens === undefined ? {} : { ONE_SHOT_TOKENS: String(model.oneShotTokens) };
}
