import type { Context } from 'hono';
import { findConsolidation, requestConsolidation } from '../../core/control/request-consolidation.ts';
import type { ConsolidationStarter } from '../../core/ports/consolidation-starter.ts';
import type { Route } from '../http/create-app.ts';
import { noQuery, readQuery } from '../http/read-query.ts';
import type { ControlDeps } from './deps.ts';

const CONSOLIDATIONS = '/v1/consolidations';

type ConsolidationDeps = ControlDeps & { readonly consolidations: ConsolidationStarter };

/** "Consolidate now", and what became of it (user case C18). */
export function consolidationRoutes(deps: ConsolidationDeps): readonly Route[] {
  return [
    { method: 'POST', path: CONSOLIDATIONS, handle: (context) => answerStart(deps, context) },
    { method: 'GET', path: `${CONSOLIDATIONS}/:id`, handle: (context) => answerOne(deps, context) },
  ];
}

async function answerStart(deps: ConsolidationDeps, context: Context): Promise<Response> {
  const { userKey } = deps.identify(context.req.raw, context.env);
  readQuery(context.req.url, noQuery);
  const id = await requestConsolidation(deps, userKey);
  context.header('location', `${CONSOLIDATIONS}/${id}`);
  return context.json({ id }, 202);
}

async function answerOne(deps: ConsolidationDeps, context: Context): Promise<Response> {
  const { userKey } = deps.identify(context.req.raw, context.env);
  readQuery(context.req.url, noQuery);
  return context.json(await findConsolidation(deps, userKey, context.req.param('id') ?? ''));
}
