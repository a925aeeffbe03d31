import type { Context } from 'hono';
import { manifestToJson } from '../../core/consolidation/manifest-json.ts';
import { listVersions } from '../../core/control/list-versions.ts';
import { NotFoundError } from '../../core/errors.ts';
import { openVersion } from '../../core/memory/memory-files.ts';
import { LIMITS } from '../../core/settings.ts';
import type { Route } from '../http/create-app.ts';
import { noQuery, readQuery } from '../http/read-query.ts';
import type { ControlDeps } from './deps.ts';
import { versionsQuery } from './schema-versions.ts';

const VERSIONS = '/v1/memory/versions';

/** The history of a memory. */
export function versionRoutes(deps: ControlDeps): readonly Route[] {
  return [
    { method: 'GET', path: VERSIONS, handle: (context) => answerList(deps, context) },
    { method: 'GET', path: `${VERSIONS}/:number`, handle: (context) => answerManifest(deps, context) },
  ];
}

async function answerList(deps: ControlDeps, context: Context): Promise<Response> {
  const { userKey } = deps.identify(context.req.raw, context.env);
  const { before } = readQuery(context.req.url, versionsQuery);
  const rows = await listVersions(deps, userKey, { before, limit: LIMITS.versionPage });
  const last = rows.at(-1);
  if (last !== undefined && rows.length === LIMITS.versionPage && last.parent > 0)
    context.header('link', `<${VERSIONS}?before=${last.version}>; rel="next"`);
  return context.json(rows);
}

async function answerManifest(deps: ControlDeps, context: Context): Promise<Response> {
  const { userKey } = deps.identify(context.req.raw, context.env);
  readQuery(context.req.url, noQuery);
  const { manifest } = await openVersion(deps, userKey, readNumber(context.req.param('number') ?? ''));
  if (manifest === null) throw notFound();
  return context.json(manifestToJson(manifest));
}

function readNumber(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw notFound();
  return Number(text);
}

function notFound(): NotFoundError {
  return new NotFoundError('memory.version_not_found', 'this is not a version of this memory');
}
