import type { Hono } from 'hono';
import { createApp, type Route } from '../http/create-app.ts';
import type { ReadAppDeps } from './deps.ts';
import { fileRoutes } from './file-routes.ts';
import { memoryRoutes } from './memory-routes.ts';
import { statusRoutes } from './status-routes.ts';
import { writeRoutes } from './write-routes.ts';

const REQUEST_TIMEOUT_MS = 10_000;

/**
 * The HTTP app that reads a memory (api.md, "Reading"). It does not know whether it runs on Lambda or locally, and whose
 * memory it reads only from `deps.identify`.
 */
export function createReadApp(deps: ReadAppDeps): Hono {
  return createApp({
    routes: readRoutes(deps),
    tokens: deps.tokens,
    telemetry: deps.telemetry,
    requestTimeoutMs: deps.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
  });
}

/** All routes of the read app, for a server that serves several apps as one. */
export function readRoutes(deps: ReadAppDeps): readonly Route[] {
  return [...statusRoutes(deps), ...memoryRoutes(deps), ...fileRoutes(deps), ...writeRoutes(deps)];
}
