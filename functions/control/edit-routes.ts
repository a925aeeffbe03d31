import type { Context } from 'hono';
import { editLimit } from '../../core/control/check-edit.ts';
import { type EditedFile, type EditFilePorts, editFile } from '../../core/control/edit-file.ts';
import { InvalidInputError } from '../../core/errors.ts';
import type { Route } from '../http/create-app.ts';
import type { Identify } from '../http/identity.ts';
import { readBytes } from '../http/read-body.ts';
import { noQuery, readPathAfter, readQuery } from '../http/read-query.ts';

const FILES = '/v1/memory/files';
const FILE = `${FILES}/:path{.+}`;

export interface EditDeps extends EditFilePorts {
  readonly identify: Identify;
}

/** `PUT|DELETE /v1/memory/files/{path}`: a file by hand, over the version that `If-Match` names (user case A31). */
export function editRoutes(deps: EditDeps): readonly Route[] {
  return [
    { method: 'PUT', path: FILE, handle: (context) => answerPut(deps, context) },
    { method: 'DELETE', path: FILE, handle: (context) => answerDelete(deps, context) },
  ];
}

async function answerPut(deps: EditDeps, context: Context): Promise<Response> {
  const { userKey } = deps.identify(context.req.raw, context.env);
  const { path, version } = readTarget(context);
  const encoding = context.req.header('content-encoding')?.toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    throw new InvalidInputError('http.unsupported_media_type', 'content-encoding must be identity', {
      details: { in: 'header', field: 'content-encoding' },
    });
  }
  const content = await readBytes(context.req.raw, editLimit(path));
  return answerEdit(context, await editFile(deps, userKey, { path, content, version, actor: 'user' }));
}

async function answerDelete(deps: EditDeps, context: Context): Promise<Response> {
  const { userKey } = deps.identify(context.req.raw, context.env);
  const { path, version } = readTarget(context);
  return answerEdit(context, await editFile(deps, userKey, { path, content: null, version, actor: 'user' }));
}

function answerEdit(context: Context, { path, version, changed, created }: EditedFile): Response {
  context.header('etag', `"${version}"`);
  return context.json({ path, version, changed }, created ? 201 : 200);
}

function readTarget(context: Context): { readonly path: string; readonly version: number } {
  readQuery(context.req.url, noQuery);
  return { path: readPathAfter(context.req.url, `${FILES}/`), version: readIfMatch(context.req.header('if-match')) };
}

/** @throws InvalidInputError `http.precondition_required`, `http.invalid_field` */
function readIfMatch(header: string | undefined): number {
  if (header === undefined) {
    throw new InvalidInputError(
      'http.precondition_required',
      'send the version that you read in the header If-Match, such as If-Match: "7"',
      { details: { in: 'header', field: 'if-match' } },
    );
  }
  const number = /^"(0|[1-9]\d{0,9})"$/.exec(header.trim())?.[1];
  if (number !== undefined) return Number(number);
  throw new InvalidInputError('http.invalid_field', 'If-Match must be one version in quotes, such as "7"', {
    details: { in: 'header', field: 'if-match' },
  });
}
