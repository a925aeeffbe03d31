import type { Hono } from 'hono';
import { NotFoundError } from '../core/errors.ts';
import type { JobQueue } from '../core/ports/job-queue.ts';
import type { ControlDeps } from '../functions/control/deps.ts';
import { docsRoutes } from '../functions/control/docs-routes.ts';
import { editRoutes } from '../functions/control/edit-routes.ts';
import { replayRoutes } from '../functions/control/replay-routes.ts';
import { settingsRoutes } from '../functions/control/settings-routes.ts';
import { threadRoutes } from '../functions/control/thread-routes.ts';
import { receiveRoutes } from '../functions/control/upload-routes.ts';
import { versionRoutes } from '../functions/control/version-routes.ts';
import { createApp, type Route } from '../functions/http/create-app.ts';
import { noteRoutes } from '../functions/http/note-routes.ts';
import type { McpAppDeps } from '../functions/mcp/deps.ts';
import { readRoutes } from '../functions/read/app.ts';
import type { Home } from './home.ts';
import { type RunningServer, startServer } from './server.ts';

export interface ServeRequest {
  /** 0 = any free one. */
  readonly port: number;
  readonly token: string | null;
}

const REQUEST_TIMEOUT_MS = 10_000;

/** What is due stands in the database, where the next run finds it: nobody waits at a queue here. */
const NO_QUEUE: JobQueue = { send: async () => {} };

/** The HTTP app over a home. Whose memory it is, is not a question here: a home has one user. */
export function createLocalApp(home: Home): Hono {
  const identify = () => ({ userKey: home.userKey, userId: home.userKey });
  const reading = {
    ...home,
    identify,
    settings: (userKey: string) => home.settingsStore.read(userKey),
    basePath: `${home.folder}/memories`,
  };
  return createApp({
    routes: [
      ...readRoutes(reading),
      ...noteRoutes(reading),
      mcpRoute({ ...reading, tokens: home.tokens, telemetry: home.telemetry }),
      ...replayRoutes({ ...home, identify, settings: home.settingsStore, queue: NO_QUEUE }),
      ...localControlRoutes({ ...home, identify, settings: home.settingsStore, queue: NO_QUEUE }),
    ],
    tokens: home.tokens,
    telemetry: home.telemetry,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
}

/** Loaded at its first call: the library of the protocol is large, and most commands never need it. */
function mcpRoute(deps: McpAppDeps): Route {
  return {
    method: 'POST',
    path: '/mcp',
    handle: async (context) => {
      const { answerMcp } = await import('../functions/mcp/app.ts');
      return answerMcp(deps, context);
    },
  };
}

/** What of the control app a home has the means for; the rest says what to do instead. */
function localControlRoutes(deps: ControlDeps): readonly Route[] {
  return [
    ...receiveRoutes(deps),
    ...threadRoutes(deps),
    ...settingsRoutes(deps),
    ...versionRoutes(deps),
    ...docsRoutes(),
    ...editRoutes(deps),
    notOffered('POST', '/v1/rollouts', {
      code: 'upload.not_offered',
      message: 'there is no other place to upload to here: send the rollout with PUT /v1/rollouts/{thread_id}',
    }),
    notOffered('POST', '/v1/consolidations', {
      code: 'consolidation.not_offered',
      message: 'this server does not ask models: run "stillroom run"',
    }),
    notOffered('POST', '/v1/reset', {
      code: 'reset.not_offered',
      message: 'this server does not reset a home: stop it and delete the home folder',
    }),
    notOffered('POST', '/v1/erase', {
      code: 'erase.not_offered',
      message: 'this server does not erase a home: stop it and delete the home folder',
    }),
  ];
}

function notOffered(
  method: Route['method'],
  path: string,
  why: { readonly code: string; readonly message: string },
): Route {
  return {
    method,
    path,
    handle: () => {
      throw new NotFoundError(why.code, why.message);
    },
  };
}

/** Serves a home over HTTP on loopback. */
export function serve(home: Home, request: ServeRequest): Promise<RunningServer> {
  return startServer({ app: createLocalApp(home), port: request.port, token: request.token });
}
