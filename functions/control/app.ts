import type { Hono } from 'hono';
import { createApp } from '../http/create-app.ts';
import { noteRoutes } from '../http/note-routes.ts';
import { consolidationRoutes } from './consolidation-routes.ts';
import type { ControlAppDeps } from './deps.ts';
import { docsRoutes } from './docs-routes.ts';
import { editRoutes } from './edit-routes.ts';
import { endRoutes } from './end-routes.ts';
import { replayRoutes } from './replay-routes.ts';
import { settingsRoutes } from './settings-routes.ts';
import { threadRoutes } from './thread-routes.ts';
import { offerRoutes, receiveRoutes } from './upload-routes.ts';
import { versionRoutes } from './version-routes.ts';

/** Below the 29 s after which API Gateway gives up (user case C18); only an erasure may take that long. */
const REQUEST_TIMEOUT_MS = 25_000;

/** The HTTP app that takes rollouts in and lets a user see and change what is kept (api.md, "Controlling"). */
export function createControlApp(deps: ControlAppDeps): Hono {
  return createApp({
    routes: [
      ...offerRoutes(deps),
      ...receiveRoutes(deps),
      ...threadRoutes(deps),
      ...settingsRoutes(deps),
      ...consolidationRoutes(deps),
      ...versionRoutes(deps),
      ...replayRoutes(deps),
      ...editRoutes(deps),
      ...noteRoutes(deps),
      ...endRoutes(deps),
      ...docsRoutes(),
    ],
    tokens: deps.tokens,
    telemetry: deps.telemetry,
    requestTimeoutMs: deps.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
  });
}
