import type { Context } from 'hono';
import { listFiles } from '../../core/memory/list-files.ts';
import type { OpenedVersion } from '../../core/memory/memory-files.ts';
import { openPinned } from '../../core/memory/pinned-version.ts';
import { RankIndexes } from '../../core/memory/rank-index.ts';
import { findFile, readFile, readWholeFile } from '../../core/memory/read-file.ts';
import { searchFiles } from '../../core/memory/search-files.ts';
import { LIMITS } from '../../core/settings.ts';
import { prefersMarkdown, strongTag } from '../http/conditional.ts';
import type { Route } from '../http/create-app.ts';
import { readJsonBody } from '../http/read-body.ts';
import { readPathAfter, readQuery } from '../http/read-query.ts';
import type { ReadAppDeps } from './deps.ts';
import { fileQuery, listQuery, searchBody, searchQuery } from './schema-files.ts';

const FILES = '/v1/memory/files';

/** The files of the memory: list, read, search (behaviours 1.N). Each answer tells the version that it was read from; `version` pins one. */
export function fileRoutes(deps: ReadAppDeps): readonly Route[] {
  const indexes = new RankIndexes();
  return [
    { method: 'GET', path: FILES, handle: (context) => answerList(deps, context) },
    { method: 'GET', path: `${FILES}/:path{.+}`, handle: (context) => answerFile(deps, context) },
    { method: 'POST', path: '/v1/memory/search', handle: (context) => answerSearch(deps, indexes, context) },
  ];
}

async function answerList(deps: ReadAppDeps, context: Context): Promise<Response> {
  const { userKey } = deps.identify(context.req.raw, context.env);
  const query = readQuery(context.req.url, listQuery);
  const files = await openPinned(deps, userKey, query.version);
  const listing = await listFiles(files, { path: query.path, cursor: query.cursor, maxResults: query.max_results });
  return context.json({ ...listing, version: files.version });
}

async function answerFile(deps: ReadAppDeps, context: Context): Promise<Response> {
  const { userKey } = deps.identify(context.req.raw, context.env);
  const query = readQuery(context.req.url, fileQuery);
  const path = readPathAfter(context.req.url, `${FILES}/`);
  const files = await openPinned(deps, userKey, query.version);
  context.header('vary', 'accept');
  if (prefersMarkdown(context.req.header('accept'))) {
    const link = await linkLargeFile(deps, userKey, { files, path });
    if (link !== undefined) {
      context.header('cache-control', 'no-store');
      return context.redirect(link, 307);
    }
    const content = await readWholeFile(files, path);
    context.header('etag', strongTag(String(files.version))); // what an edit of the file names in If-Match
    context.header('content-type', path.endsWith('.md') ? 'text/markdown; charset=utf-8' : 'application/octet-stream');
    return context.body(new Uint8Array(content));
  }
  const text = await readFile(files, { path, lineOffset: query.line_offset, maxLines: query.max_lines });
  return context.json({ ...text, version: files.version });
}

/** Where links are offered, an address for a file that is too large for an answer. */
async function linkLargeFile(
  deps: ReadAppDeps,
  userKey: string,
  wanted: { readonly files: OpenedVersion; readonly path: string },
): Promise<string | undefined> {
  const path = findFile(wanted.files, wanted.path);
  const entry = wanted.files.manifest?.files[path];
  if (
    deps.links === undefined ||
    entry === undefined ||
    entry.versionId === '' ||
    entry.bytes <= LIMITS.inlineFileBytes
  )
    return undefined;
  return deps.links.link(userKey, path, entry);
}

async function answerSearch(deps: ReadAppDeps, indexes: RankIndexes, context: Context): Promise<Response> {
  const { userKey } = deps.identify(context.req.raw, context.env);
  const { version } = readQuery(context.req.url, searchQuery);
  const body = await readJsonBody(context.req.raw, searchBody);
  const files = await openPinned(deps, userKey, version);
  const { match_mode: matchMode, context_lines: contextLines, case_sensitive: caseSensitive, ...rest } = body;
  const { max_results: maxResults, ...same } = rest;
  const request = { ...same, matchMode, contextLines, caseSensitive, maxResults };
  const result = await searchFiles(files, request, indexes);
  return context.json({ ...result, version: files.version });
}
