import type { Context } from 'hono';
import { changeMemoryMode } from '../../core/control/change-memory-mode.ts';
import { describeThread, findThread } from '../../core/control/describe-thread.ts';
import { forgetThread } from '../../core/control/forget-thread.ts';
import { listThreads } from '../../core/control/list-threads.ts';
import { redriveExtractions, requestExtraction } from '../../core/control/request-extraction.ts';
import { InvalidInputError } from '../../core/errors.ts';
import { isThreadId } from '../../core/ids.ts';
import { toFileTime } from '../../core/time.ts';
import type { Route } from '../http/create-app.ts';
import { readJsonBody } from '../http/read-body.ts';
import { noQuery, readQuery } from '../http/read-query.ts';
import type { ControlDeps } from './deps.ts';
import { forgetQuery, modeBody, threadsQuery } from './schema-threads.ts';

const THREAD = '/v1/threads/:id';

type Handle = (deps: ControlDeps, userKey: string, context: Context) => Promise<Response>;

/** What was taken in, what became of it and why, and what a user may do about it (api.md, "Controlling"). */
export function threadRoutes(deps: ControlDeps): readonly Route[] {
  const route = (method: Route['method'], path: string, handle: Handle): Route => ({
    method,
    path,
    handle: (context) => handle(deps, deps.identify(context.req.raw, context.env).userKey, context),
  });
  return [
    route('GET', '/v1/threads', answerList),
    route('GET', THREAD, answerOne),
    route('PATCH', THREAD, answerMode),
    route('DELETE', THREAD, answerForget),
    route('POST', `${THREAD}/extract`, answerExtract),
    route('POST', '/v1/redrive', answerRedrive),
  ];
}

async function answerList(deps: ControlDeps, userKey: string, context: Context): Promise<Response> {
  const { cursor, outcome } = readQuery(context.req.url, threadsQuery);
  if (cursor !== undefined && !isThreadId(cursor)) {
    throw new InvalidInputError('cursor.invalid', 'cursor must be a next_cursor of this list', {
      details: { field: 'cursor' },
    });
  }
  const page = await listThreads(deps, userKey, { after: cursor, outcome });
  return context.json({ threads: page.rows, next_cursor: page.next });
}

async function answerOne(deps: ControlDeps, userKey: string, context: Context): Promise<Response> {
  readQuery(context.req.url, noQuery);
  return context.json(await describeThread(deps, userKey, idOf(context)));
}

async function answerMode(deps: ControlDeps, userKey: string, context: Context): Promise<Response> {
  readQuery(context.req.url, noQuery);
  const { memory_mode: mode } = await readJsonBody(context.req.raw, modeBody);
  const { threadId } = await findThread(deps, userKey, idOf(context));
  await changeMemoryMode(deps, userKey, threadId, mode);
  return context.json(await describeThread(deps, userKey, threadId));
}

async function answerForget(deps: ControlDeps, userKey: string, context: Context): Promise<Response> {
  const { history } = readQuery(context.req.url, forgetQuery);
  const forgotten = await forgetThread(deps, userKey, idOf(context), history === 'purge' ? 'purge' : 'own');
  return context.json({
    thread_id: forgotten.threadId,
    forgotten_at: toFileTime(forgotten.forgottenAt),
    consolidation_due: forgotten.consolidationDue,
    version: forgotten.version,
  });
}

async function answerExtract(deps: ControlDeps, userKey: string, context: Context): Promise<Response> {
  readQuery(context.req.url, noQuery);
  await requestExtraction(deps, userKey, idOf(context));
  return context.json({ thread_id: idOf(context) }, 202);
}

async function answerRedrive(deps: ControlDeps, userKey: string, context: Context): Promise<Response> {
  readQuery(context.req.url, noQuery);
  return context.json({ redriven: await redriveExtractions(deps, userKey) });
}

function idOf(context: Context): string {
  return context.req.param('id') ?? '';
}
