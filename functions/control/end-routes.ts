import type { Context } from 'hono';
import { eraseWithReceipt } from '../../core/control/erase-receipt.ts';
import { resetMemory } from '../../core/control/reset-memory.ts';
import type { EraseMarks } from '../../core/ports/erase-marks.ts';
import type { UserTraces } from '../../core/ports/user-traces.ts';
import type { Route } from '../http/create-app.ts';
import { readJsonBody } from '../http/read-body.ts';
import { noQuery, readQuery } from '../http/read-query.ts';
import type { ControlDeps } from './deps.ts';
import { eraseBody } from './schema-end.ts';

type EndDeps = ControlDeps & { readonly traces: readonly UserTraces[]; readonly marks: EraseMarks };

/** Starting anew, and leaving (DV-18; user case B12). */
export function endRoutes(deps: EndDeps): readonly Route[] {
  return [
    { method: 'POST', path: '/v1/reset', handle: (context) => answerReset(deps, context) },
    { method: 'POST', path: '/v1/erase', handle: (context) => answerErase(deps, context) },
  ];
}

async function answerReset(deps: EndDeps, context: Context): Promise<Response> {
  const { userKey } = deps.identify(context.req.raw, context.env);
  readQuery(context.req.url, noQuery);
  return context.json(await resetMemory(deps, userKey));
}

async function answerErase(deps: EndDeps, context: Context): Promise<Response> {
  const { userKey, userId } = deps.identify(context.req.raw, context.env);
  readQuery(context.req.url, noQuery);
  const { confirm } = await readJsonBody(context.req.raw, eraseBody);
  return context.json(await eraseWithReceipt(deps, { userKey, userId, confirm }));
}
