import * as z from 'zod';

const name = z.string().min(1);
const envShape = z.object({ STAGE: name, TABLE_NAME: name, QUEUE_URL: z.url(), CONSOLIDATION_FUNCTION: name });

/** Where this function finds what it works with. */
export interface SweepEnv {
  readonly stage: string;
  readonly tableName: string;
  readonly queueUrl: string;
  /** Qualified ARN of `phase2`. */
  readonly consolidationFunction: string;
}

/** Reads the environment. @throws ZodError that names what is missing or wrong; the function then fails to start */
export function readEnv(variables: Readonly<Record<string, string | undefined>> = process.env): SweepEnv {
  const env = envShape.parse(variables);
  return {
    stage: env.STAGE,
    tableName: env.TABLE_NAME,
    queueUrl: env.QUEUE_URL,
    consolidationFunction: env.CONSOLIDATION_FUNCTION,
  };
}
