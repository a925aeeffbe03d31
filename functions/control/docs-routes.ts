import type { Context } from 'hono';
import { sha256Hex } from '../../core/ids.ts';
import { noneMatchNames, strongTag } from '../http/conditional.ts';
import type { Route } from '../http/create-app.ts';
import { noQuery, readQuery } from '../http/read-query.ts';
import { renderDocsPage } from './docs-page.ts';
import published from './openapi.json' with { type: 'json' };

/** No script, nothing from elsewhere: what is shown is told by us alone. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

interface Publication {
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * `GET /openapi.json` and `GET /docs` (api.md). The document is written by `npm run openapi` from the schemas that check
 * requests and answers, and is the same for everybody.
 */
export function docsRoutes(): readonly Route[] {
  const document = once(() => ({ type: 'application/json', body: JSON.stringify(published) }));
  const page = once(() => ({
    type: 'text/html; charset=utf-8',
    body: renderDocsPage(published),
    headers: { 'content-security-policy': PAGE_POLICY, 'referrer-policy': 'no-referrer' },
  }));
  return [
    { method: 'GET', path: '/openapi.json', handle: (context) => publish(context, document()) },
    { method: 'GET', path: '/docs', handle: (context) => publish(context, page()) },
  ];
}

function publish(context: Context, { tag, type, body, headers }: Publication & { readonly tag: string }): Response {
  readQuery(context.req.url, noQuery);
  context.header('etag', tag);
  context.header('cache-control', 'private, no-cache');
  if (noneMatchNames(context.req.header('if-none-match'), tag)) return context.body(null, 304);
  for (const [name, value] of Object.entries(headers ?? {})) context.header(name, value);
  context.header('content-type', type);
  return context.body(body);
}

/** Made at its first use: few callers ever ask. */
function once(make: () => Publication): () => Publication & { readonly tag: string } {
  let made: (Publication & { readonly tag: string }) | undefined;
  return () => {
    if (made === undefined) {
      const publication = make();
      made = { ...publication, tag: strongTag(sha256Hex(publication.body).slice(0, 32)) };
    }
    return made;
  };
}
