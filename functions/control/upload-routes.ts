import type { Context } from 'hono';
import { type AnnouncedUpload, offerUpload } from '../../core/control/offer-upload.ts';
import { receiveRollout } from '../../core/control/receive-rollout.ts';
import { InvalidInputError } from '../../core/errors.ts';
import type { UploadSigner } from '../../core/ports/upload-signer.ts';
import { LIMITS } from '../../core/settings.ts';
import { parseTime, toFileTime } from '../../core/time.ts';
import type { Route } from '../http/create-app.ts';
import { readBytes, readJsonBody } from '../http/read-body.ts';
import { noQuery, readPathAfter, readQuery } from '../http/read-query.ts';
import type { ControlDeps } from './deps.ts';
import { type SaidOfUpload, uploadBody, uploadQuery } from './schema-uploads.ts';

const ROLLOUTS = '/v1/rollouts';

/** `POST /v1/rollouts`: where to upload a rollout of any size. */
export function offerRoutes(deps: ControlDeps & { readonly uploads: UploadSigner }): readonly Route[] {
  return [{ method: 'POST', path: ROLLOUTS, handle: (context) => answerOffer(deps, context) }];
}

/** `PUT /v1/rollouts/{thread_id}`: a rollout in the request itself. */
export function receiveRoutes(deps: ControlDeps): readonly Route[] {
  return [{ method: 'PUT', path: `${ROLLOUTS}/:id`, handle: (context) => answerReceive(deps, context) }];
}

async function answerOffer(
  deps: ControlDeps & { readonly uploads: UploadSigner },
  context: Context,
): Promise<Response> {
  const { userKey } = deps.identify(context.req.raw, context.env);
  readQuery(context.req.url, noQuery);
  const { thread_id: threadId, ...said } = await readJsonBody(context.req.raw, uploadBody);
  const answer = await offerUpload(deps, announced({ userKey, threadId }, said));
  context.header('cache-control', 'no-store');
  if (answer.kind === 'unchanged') return context.json({ thread_id: threadId, unchanged: true });
  const { method, url, headers, expiresAt } = answer.upload;
  const upload = { method, url, headers, expires_at: toFileTime(expiresAt) };
  return context.json({ thread_id: threadId, upload }, 201);
}

async function answerReceive(deps: ControlDeps, context: Context): Promise<Response> {
  const { userKey } = deps.identify(context.req.raw, context.env);
  const { ended, ...said } = readQuery(context.req.url, uploadQuery);
  const threadId = readPathAfter(context.req.url, `${ROLLOUTS}/`);
  const upload = announced({ userKey, threadId }, { ...said, ended: ended === undefined ? null : ended === 'true' });
  const content = await readRolloutBytes(context.req.raw);
  const { kind } = await receiveRollout(deps, upload, content);
  return context.json({ thread_id: threadId, unchanged: kind === 'unchanged' }, 202);
}

function announced(of: { readonly userKey: string; readonly threadId: string }, said: SaidOfUpload): AnnouncedUpload {
  return {
    ...of,
    sha256: said.sha256 ?? null,
    bytes: said.bytes ?? null,
    hints: {
      source: said.source ?? null,
      cwd: said.cwd ?? null,
      repository: said.repository ?? null,
      gitBranch: said.git_branch ?? null,
      sourceUpdatedAt: toMs(said.source_updated_at ?? null),
      ended: said.ended ?? null,
    },
  };
}

function toMs(time: string | number | null): number | null {
  return typeof time === 'string' ? (parseTime(time) ?? null) : time;
}

async function readRolloutBytes(request: Request): Promise<Uint8Array> {
  try {
    return await readBytes(request, LIMITS.directUploadBytes);
  } catch (error) {
    if (!(error instanceof InvalidInputError) || error.code !== 'http.body_too_large') throw error;
    throw new InvalidInputError(
      'rollout.body_too_large',
      `the body must have at most ${LIMITS.directUploadBytes} bytes; for a larger rollout ask POST ${ROLLOUTS} for an address`,
      { details: { in: 'body', limit: LIMITS.directUploadBytes } },
    );
  }
}
