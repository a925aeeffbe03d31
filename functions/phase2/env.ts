import * as z from 'zod';
import { LIMITS } from '../../core/settings.ts';

const name = z.string().min(1);
const envShape = z.object({
  STAGE: name,
  TABLE_NAME: name,
  MEMORIES_BUCKET: name,
  TEMPLATES_FOLDER: name.default('/opt/templates'),
  MODEL_SECRET_ARN: name,
  MODEL_BASE_URL: z.url().default('https://api.openai.com/v1'),
  MODEL_API: z.enum(['responses', 'chat']).default('responses'),
  CONSOLIDATION_MODEL: name,
  DAILY_TOKEN_BUDGET: z.coerce.number().int().min(0).optional(),
  ONE_SHOT_TOKENS: z.coerce.number().int().min(0).max(200_000).default(LIMITS.oneShotTokens),
});

/** Where this function finds what it works with. */
export interface Phase2Env {
  readonly stage: string;
  readonly tableName: string;
  readonly memoriesBucket: string;
  readonly templatesFolder: string;
  readonly modelSecretArn: string;
  readonly modelBaseUrl: string;
  readonly modelApi: 'responses' | 'chat';
  readonly consolidationModel: string;
  /** Tokens a day for users who chose none; null: the built-in default. */
  readonly dailyTokenBudget: number | null;
  /** A run whose material has no more tokens is asked for in one call; 0: never. */
  readonly oneShotTokens: number;
}

/** Reads the environment. @throws ZodError that names what is missing or wrong; the function then fails to start */
export function readEnv(variables: Readonly<Record<string, string | undefined>> = process.env): Phase2Env {
  const set = Object.entries(variables).filter(([, value]) => value !== undefined && value !== '');
  const env = envShape.parse(Object.fromEntries(set)); // an empty variable is none
  return {
    stage: env.STAGE,
    tableName: env.TABLE_NAME,
    memoriesBucket: env.MEMORIES_BUCKET,
    templatesFolder: env.TEMPLATES_FOLDER,
    modelSecretArn: env.MODEL_SECRET_ARN,
    modelBaseUrl: env.MODEL_BASE_URL,
    modelApi: env.MODEL_API,
    consolidationModel: env.CONSOLIDATION_MODEL,
    dailyTokenBudget: env.DAILY_TOKEN_BUDGET ?? null,
    oneShotTokens: env.ONE_SHOT_TOKENS,
  };
}
