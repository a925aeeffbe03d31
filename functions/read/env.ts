import * as z from 'zod/mini';
import { AGENT_VARIABLES, GATEWAY_VARIABLES, readVariables } from '../http/gateway-env.ts';
import type { AuthMode } from '../http/identity.ts';

const shape = z.object({
  ...GATEWAY_VARIABLES,
  ...AGENT_VARIABLES,
  DAILY_TOKEN_BUDGET: z.optional(z.string().check(z.regex(/^\d{1,10}$/))),
});

/** Where this function finds what it works with. */
export interface ReadEnv {
  readonly stage: string;
  readonly tableName: string;
  readonly memoriesBucket: string;
  readonly templatesFolder: string;
  readonly authMode: AuthMode;
  readonly userClaim: string;
  /** Where agents are told that the memory files lie. */
  readonly basePath: string;
  /** The deployment's tokens a user and day, as the status shows them; null: the built-in default. */
  readonly dailyTokenBudget: number | null;
}

/** @throws DefectError `env.invalid` */
export function readEnv(variables: Readonly<Record<string, string | undefined>> = process.env): ReadEnv {
  const env = readVariables(shape, variables);
  return {
    stage: env.STAGE,
    tableName: env.TABLE_NAME,
    memoriesBucket: env.MEMORIES_BUCKET,
    templatesFolder: env.TEMPLATES_FOLDER,
    authMode: env.AUTH_MODE,
    userClaim: env.USER_CLAIM,
    dailyTokenBudget: env.DAILY_TOKEN_BUDGET === undefined ? null : Number(env.DAILY_TOKEN_BUDGET),
    basePath: `${env.API_URL.replace(/\/+$/, '')}/v1/memory/files`,
  };
}
