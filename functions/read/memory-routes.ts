import type { Context } from 'hono';
import type * as z from 'zod/mini';
import type { Head } from '../../core/consolidation/manifest.ts';
import { sha256Hex } from '../../core/ids.ts';
import { readSummary } from '../../core/memory/read-summary.ts';
import { LIMITS } from '../../core/settings.ts';
import { noneMatchNames, strongTag } from '../http/conditional.ts';
import type { Route } from '../http/create-app.ts';
import { readQuery } from '../http/read-query.ts';
import type { ReadAppDeps } from './deps.ts';
import { memoryQuery } from './schema-memory.ts';

/** `GET /v1/memory` (api.md, "Reading"; user cases A9, A26, A38). */
export function memoryRoutes(deps: ReadAppDeps): readonly Route[] {
  return [{ method: 'GET', path: '/v1/memory', handle: (context) => answerMemory(deps, context) }];
}

/** One read of the head decides everything, so that tag and bytes are of one version. */
async function answerMemory(deps: ReadAppDeps, context: Context): Promise<Response> {
  const { userKey } = deps.identify(context.req.raw, context.env);
  const query = readQuery(context.req.url, memoryQuery);
  // Asked together: a store may fetch head and settings in one request.
  const [{ useMemories }, head, template] = await Promise.all([
    deps.settings(userKey),
    deps.heads.read(userKey),
    deps.templates.get('read_path'),
  ]);
  const tag = tagOf(head, query, { useMemories, basePath: deps.basePath, templateVersion: template.version });
  context.header('etag', tag);
  context.header('cache-control', 'private, no-cache');
  const unchanged = noneMatchNames(context.req.header('if-none-match'), tag);
  const pinned = query.version !== undefined && query.version !== head.version;
  if (unchanged && !pinned) return context.body(null, 304);
  const answer = await readSummary({ ...deps, heads: { read: async () => head } }, userKey, {
    cwd: query.cwd,
    repository: query.repository,
    scope: query.scope,
    version: query.version,
    maxTokens: query.max_tokens,
    useMemories,
  });
  // A pinned version is looked up first: `*` must not call a version unchanged that does not exist.
  return unchanged ? context.body(null, 304) : context.json(answer);
}

/**
 * The tag of an answer: from the version and the parameters, and from what a deployment or a setting changes in the text.
 * The epoch is part of the version, since a reset starts the numbers anew.
 */
function tagOf(
  head: Head,
  query: z.output<typeof memoryQuery.schema>,
  made: { readonly useMemories: boolean; readonly basePath: string; readonly templateVersion: string },
): string {
  const version = query.version ?? head.version;
  const parts = [
    head.epoch,
    query.cwd ?? null,
    query.repository ?? null,
    query.scope ?? 'auto',
    query.max_tokens ?? LIMITS.summaryTokens,
    made.useMemories,
    made.basePath,
    made.templateVersion,
  ];
  return strongTag(`v${version}-${sha256Hex(JSON.stringify(parts)).slice(0, 32)}`);
}
