import * as z from 'zod/mini';
import { DeniedError } from '../../core/errors.ts';
import { toUserKey } from '../../core/ids.ts';

/** Who asks. Comes from a verified token or the server's own configuration, never from what the request names. */
export interface Identity {
  readonly userKey: string;
  readonly userId: string;
}

/**
 * Tells who asks.
 * @param env what the server around the app vouches for, beside the request; on Lambda `{ event }` of API Gateway
 * @throws DeniedError `auth.*` when it is not known who asks
 */
export type Identify = (request: Request, env: unknown) => Identity;

/** How API Gateway was told to authorise callers. */
export type AuthMode = 'jwt' | 'iam';

/** The header in which a caller with an IAM identity names the user it acts for. */
export const USER_HEADER = 'x-stillroom-user';

/** What both kinds of authorizer leave in an event (payload format 2.0). Only API Gateway writes this part. */
const authorizedEvent = z.object({
  event: z.object({
    requestContext: z.object({
      authorizer: z.nullish(
        z.object({
          jwt: z.nullish(z.object({ claims: z.record(z.string(), z.unknown()) })),
          iam: z.nullish(z.object({ userArn: z.string() })),
        }),
      ),
    }),
    headers: z.nullish(z.record(z.string(), z.string())),
  }),
});

/**
 * Identity by what API Gateway verified (api.md; user case B15). With `jwt` the user is one claim of the verified token and
 * nothing else; a header that names a user is not looked at. With `iam` a caller that IAM let in is a trusted back end and
 * names the user in `x-stillroom-user`, as it is, without any decoding. There is no third way in.
 * @param rule.claim of the verified token that holds the user id
 */
export function gatewayIdentity(rule: { readonly mode: AuthMode; readonly claim: string }): Identify {
  return (_request, env) => {
    const { requestContext, headers } = readEvent(env);
    const { jwt, iam } = requestContext.authorizer ?? {};
    if (rule.mode === 'jwt' && jwt) return toIdentity(ownValue(jwt.claims, rule.claim), 'auth.no_user_claim');
    if (rule.mode === 'iam' && iam?.userArn)
      return toIdentity(ownValue(headers ?? {}, USER_HEADER), 'auth.no_user_header');
    throw notAuthorized();
  };
}

function readEvent(env: unknown): z.output<typeof authorizedEvent>['event'] {
  const parsed = z.safeParse(authorizedEvent, env);
  if (parsed.success) return parsed.data.event;
  throw notAuthorized();
}

/** An id must name one user: no white space around it, no control characters, no half characters, which would all become one. */
function toIdentity(userId: unknown, code: string): Identity {
  const isName = typeof userId === 'string' && userId !== '' && userId.trim() === userId && userId.isWellFormed();
  if (!isName || /\p{Cc}/u.test(userId)) throw new DeniedError(code, 'the caller is authorised, but names no user');
  return { userId, userKey: toUserKey(userId) };
}

function ownValue(record: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function notAuthorized(): DeniedError {
  return new DeniedError('auth.not_authorized', 'the request was not authorised');
}
