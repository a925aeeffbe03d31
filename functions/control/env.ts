import * as z from 'zod/mini';
import { GATEWAY_VARIABLES, readVariables } from '../http/gateway-env.ts';
import type { AuthMode } from '../http/identity.ts';

const name = z.string().check(z.minLength(1));
const shape = z.object({
  ...GATEWAY_VARIABLES,
  ROLLOUTS_BUCKET: name,
  TEMPLATES_FOLDER: z._default(name, '/opt/templates'),
  QUEUE_URL: z.url(),
  CONSOLIDATION_FUNCTION: name,
});

/** Where this function finds what it works with. */
export interface ControlEnv {
  readonly stage: string;
  readonly tableName: string;
  readonly rolloutsBucket: string;
  readonly memoriesBucket: string;
  readonly templatesFolder: string;
  readonly queueUrl: string;
  /** Qualified name of the function that consolidates. */
  readonly consolidationFunction: string;
  readonly authMode: AuthMode;
  readonly userClaim: string;
}

/** @throws DefectError `env.invalid` */
export function readEnv(variables: Readonly<Record<string, string | undefined>> = process.env): ControlEnv {
  const env = readVariables(shape, variables);
  return {
    stage: env.STAGE,
    tableName: env.TABLE_NAME,
    rolloutsBucket: env.ROLLOUTS_BUCKET,
    memoriesBucket: env.MEMORIES_BUCKET,
    templatesFolder: env.TEMPLATES_FOLDER,
    queueUrl: env.QUEUE_URL,
    consolidationFunction: env.CONSOLIDATION_FUNCTION,
    authMode: env.AUTH_MODE,
    userClaim: env.USER_CLAIM,
  };
}
