import * as z from 'zod/mini';
import { DefectError } from '../../core/errors.ts';

const name = z.string().check(z.minLength(1));

/** What every function behind API Gateway finds in its environment. */
export const GATEWAY_VARIABLES = {
  STAGE: name,
  TABLE_NAME: name,
  MEMORIES_BUCKET: name,
  AUTH_MODE: z.enum(['jwt', 'iam']),
  /** A claim whose name was never filled in must not start: every user would be nobody (user case B14). */
  USER_CLAIM: z._default(z.string().check(z.regex(/^[\w:./-]{1,128}$/)), 'sub'),
};

/** What functions need that show an agent its memory. */
export const AGENT_VARIABLES = {
  TEMPLATES_FOLDER: z._default(name, '/opt/templates'),
  /** Base address of the API, shown to agents; without it they are shown paths. */
  API_URL: z._default(z.string().check(z.regex(/^https?:\/\/[^\s?#]+$/)), ''),
};

/**
 * Reads an environment. An empty variable is none.
 * @throws DefectError `env.invalid`, which names every variable that is missing or wrong, never its value; the function then
 *   fails to start
 */
export function readVariables<Shape extends z.core.$ZodLooseShape>(
  shape: z.ZodMiniObject<Shape>,
  variables: Readonly<Record<string, string | undefined>>,
): z.output<z.ZodMiniObject<Shape>> {
  const set = Object.entries(variables).filter(([, value]) => value !== undefined && value !== '');
  const read = z.safeParse(shape, Object.fromEntries(set));
  if (read.success) return read.data;
  const names = [...new Set(read.error.issues.map((issue) => String(issue.path[0])))].join(', ');
  throw new DefectError('env.invalid', `missing or wrong in the environment: ${names}`, { details: { names } });
}
