import type { Hono } from 'hono';
import { createReadApp } from '../functions/read/app.ts';
import type { Home } from './home.ts';
import { type RunningServer, startServer } from './server.ts';

export interface ServeRequest {
  /** 0 = any free one. */
  readonly port: number;
  readonly token: string | null;
}

/** The HTTP app over a home. Whose memory it is, is not a question here: a home has one user. */
export function createLocalApp(home: Home): Hono {
  return createReadApp({
    ...home,
    identify: () => ({ userKey: home.userKey, userId: home.userKey }),
    settings: (userKey) => home.settingsStore.read(userKey),
    basePath: `${home.folder}/memories`,
  });
}

/** Serves a home over HTTP on loopback. */
export function serve(home: Home, request: ServeRequest): Promise<RunningServer> {
  return startServer({ app: createLocalApp(home), port: request.port, token: request.token });
}
