import { type Context, Hono } from 'hono';
import { routePath } from 'hono/route';
import { InvalidInputError, NotFoundError, UnavailableError } from '../../core/errors.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { TokenSource } from '../../core/ports/token-source.ts';
import { asStillroomError, problemOf, toResponse } from './problem.ts';

/** One route. `path` is a Hono pattern; GET serves HEAD as well. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly handle: (context: Context) => Response | Promise<Response>;
}

export interface AppOptions {
  readonly routes: readonly Route[];
  readonly tokens: TokenSource;
  readonly telemetry: Telemetry;
  /** A request that takes longer is answered 503; its work is not undone. */
  readonly requestTimeoutMs: number;
}

/**
 * An HTTP app with what all our apps share: one map from failures to problem details, 404 for unknown routes, 405 with
 * `Allow` for wrong methods, a time limit, and a log line for each failure of ours. Log lines carry the route's pattern and
 * codes, never a path, a parameter, a body or a message.
 */
export function createApp(options: AppOptions): Hono {
  const app = new Hono();
  app.onError((thrown, context) => answerFailure(thrown, context, options));
  app.notFound((context) => answerFailure(noRoute(), context, options));
  app.use(async (context, next) => {
    await withinTime(next(), options.requestTimeoutMs);
    context.header('x-content-type-options', 'nosniff');
  });
  for (const route of options.routes) app.on(route.method, route.path, route.handle);
  for (const [path, allow] of methodsByPath(options.routes)) {
    app.all(path, () => {
      throw new InvalidInputError('http.method_not_allowed', `the method must be one of ${allow}`, {
        details: { allow },
      });
    });
  }
  return app;
}

function answerFailure(thrown: unknown, context: Context, options: AppOptions): Response {
  const error = asStillroomError(thrown);
  const headers = context.req.raw.headers;
  const precondition = headers.has('if-match') || headers.has('if-unmodified-since');
  const instance = `urn:uuid:${options.tokens.next()}`;
  const answer = problemOf(error, { precondition }, instance);
  if (answer.problem.status >= 500) {
    const cause = error.cause instanceof Error ? error.cause.name : null;
    options.telemetry.event('error', 'http.failure', {
      instance,
      method: context.req.method,
      route: routePath(context, -1),
      status: answer.problem.status,
      code: error.code,
      cause,
    });
  }
  return toResponse(answer);
}

/** The answers by path: `Allow` of each. */
function methodsByPath(routes: readonly Route[]): Map<string, string> {
  const methods = new Map<string, string[]>();
  for (const { method, path } of routes) {
    const listed = methods.get(path) ?? [];
    methods.set(path, [...listed, ...(method === 'GET' ? ['GET', 'HEAD'] : [method])]);
  }
  return new Map([...methods].map(([path, listed]) => [path, listed.join(', ')]));
}

async function withinTime(work: Promise<void>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new UnavailableError('http.timed_out', `the request took longer than ${limitMs} ms`));
    }, limitMs);
  });
  try {
    await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

function noRoute(): NotFoundError {
  return new NotFoundError('http.no_such_route', 'there is no such route');
}
