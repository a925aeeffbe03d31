import type { Context } from 'hono';
import { manifestToJson } from '../../core/consolidation/manifest-json.ts';
import { diffVersions } from '../../core/control/diff-versions.ts';
import { listVersions } from '../../core/control/list-versions.ts';
import { openFormer } from '../../core/control/open-former.ts';
import { restoreVersion } from '../../core/control/restore-version.ts';
import { InvalidInputError, NotFoundError } from '../../core/errors.ts';
import { LIMITS } from '../../core/settings.ts';
import type { Route } from '../http/create-app.ts';
import { noQuery, readQuery } from '../http/read-query.ts';
import type { ControlDeps } from './deps.ts';
import { diffQuery, versionsQuery } from './schema-versions.ts';

const VERSIONS = '/v1/memory/versions';
const VERSION = `${VERSIONS}/:number`;

type Handle = (deps: ControlDeps, userKey: string, context: Context) => Promise<Response>;

/** The history of a memory, and the way back. */
export function versionRoutes(deps: ControlDeps): readonly Route[] {
  const route = (method: Route['method'], path: string, handle: Handle): Route => ({
    method,
    path,
    handle: (context) => handle(deps, deps.identify(context.req.raw, context.env).userKey, context),
  });
  return [
    route('GET', VERSIONS, answerList),
    route('GET', VERSION, answerManifest),
    route('GET', `${VERSION}/diff`, answerDiff),
    route('POST', `${VERSION}/restore`, answerRestore),
  ];
}

async function answerList(deps: ControlDeps, userKey: string, context: Context): Promise<Response> {
  const query = readQuery(context.req.url, versionsQuery);
  const limit = Math.min(LIMITS.versionPage, Math.max(1, query.max_results ?? LIMITS.versionPage));
  const { rows, more } = await listVersions(deps, userKey, { before: readCursor(query.cursor), limit });
  const last = rows.at(-1);
  if (more && last !== undefined) {
    const size = query.max_results === undefined ? '' : `&max_results=${limit}`;
    context.header('link', `<${VERSIONS}?cursor=${last.version}${size}>; rel="next"`);
  }
  return context.json(rows);
}

async function answerManifest(deps: ControlDeps, userKey: string, context: Context): Promise<Response> {
  readQuery(context.req.url, noQuery);
  const { manifest } = await openFormer(deps, userKey, versionNumber(context));
  if (manifest === null) throw notFound();
  return context.json(manifestToJson(manifest));
}

async function answerDiff(deps: ControlDeps, userKey: string, context: Context): Promise<Response> {
  const { against } = readQuery(context.req.url, diffQuery);
  const diff = await diffVersions(deps, userKey, { version: versionNumber(context), against });
  context.header('content-type', 'text/plain; charset=utf-8');
  context.header('cache-control', 'private, no-cache');
  return context.body(diff.text);
}

/** 201 with the version made; 200 where the memory is like that already. */
async function answerRestore(deps: ControlDeps, userKey: string, context: Context): Promise<Response> {
  readQuery(context.req.url, noQuery);
  const restored = await restoreVersion(deps, userKey, { version: versionNumber(context), actor: 'user' });
  if (!restored.changed) return context.json(restored);
  context.header('location', `${VERSIONS}/${restored.version}`);
  return context.json(restored, 201);
}

/** Of the path. @throws NotFoundError where it cannot be one */
export function versionNumber(context: Context): number {
  const text = context.req.param('number') ?? '';
  if (!/^[1-9]\d{0,9}$/.test(text)) throw notFound();
  return Number(text);
}

/** The last version of the page before. */
function readCursor(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  if (/^[1-9]\d{0,9}$/.test(cursor)) return Number(cursor);
  throw new InvalidInputError('cursor.invalid', 'cursor must be that of the header Link of this list', {
    details: { in: 'query', field: 'cursor' },
  });
}

function notFound(): NotFoundError {
  return new NotFoundError('memory.version_not_found', 'this is not a version of this memory');
}
