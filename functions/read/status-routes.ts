import { readStatus } from '../../core/control/read-status.ts';
import type { Route } from '../http/create-app.ts';
import { noQuery, readQuery } from '../http/read-query.ts';
import type { ReadAppDeps } from './deps.ts';

/** `GET /healthz` (no token, touches no store) and `GET /v1/status`. */
export function statusRoutes(deps: ReadAppDeps): readonly Route[] {
  return [
    { method: 'GET', path: '/healthz', handle: (context) => context.json({ status: 'ok' }) },
    {
      method: 'GET',
      path: '/v1/status',
      handle: async (context) => {
        const { userKey } = deps.identify(context.req.raw, context.env);
        readQuery(context.req.url, noQuery);
        return context.json(await readStatus(deps, userKey, await deps.settings(userKey)));
      },
    },
  ];
}
