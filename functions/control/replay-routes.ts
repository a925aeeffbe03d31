import type { Context } from 'hono';
import type { TemplateStore } from '../../core/ports/template-store.ts';
import { replayVersion } from '../../core/replay/replay-version.ts';
import type { Route } from '../http/create-app.ts';
import { noQuery, readQuery } from '../http/read-query.ts';
import type { ControlDeps } from './deps.ts';
import { versionNumber } from './version-routes.ts';

type ReplayDeps = ControlDeps & { readonly templates: TemplateStore };

/** A version once more, from what is kept of its run. No model is asked here, neither then nor beside it. */
export function replayRoutes(deps: ReplayDeps): readonly Route[] {
  return [
    { method: 'GET', path: '/v1/memory/versions/:number/replay', handle: (context) => answerReplay(deps, context) },
  ];
}

async function answerReplay(deps: ReplayDeps, context: Context): Promise<Response> {
  const { userKey } = deps.identify(context.req.raw, context.env);
  readQuery(context.req.url, noQuery);
  return context.json(await replayVersion(deps, userKey, versionNumber(context)));
}
