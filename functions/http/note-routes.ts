import type { Context } from 'hono';
import { type AddNoteDeps, addNote } from '../../core/memory/add-note.ts';
import type { Route } from './create-app.ts';
import type { Identify } from './identity.ts';
import { OneAtATime } from './one-at-a-time.ts';
import { readJsonBody } from './read-body.ts';
import { noQuery, readQuery } from './read-query.ts';
import { noteBody } from './schema-notes.ts';

export interface NoteRouteDeps extends AddNoteDeps {
  readonly identify: Identify;
}

/**
 * Notes (behaviours N-21..N-23). They belong to the control app, since the function `read` may not write a version
 * (docs/decisions/0009-infrastructure.md); a local server mounts them as well.
 */
export function noteRoutes(deps: NoteRouteDeps): readonly Route[] {
  const notes = new OneAtATime();
  return [{ method: 'POST', path: '/v1/memory/notes', handle: (context) => answerNote(deps, notes, context) }];
}

async function answerNote(deps: NoteRouteDeps, notes: OneAtATime, context: Context): Promise<Response> {
  const { userKey } = deps.identify(context.req.raw, context.env);
  readQuery(context.req.url, noQuery);
  const body = await readJsonBody(context.req.raw, noteBody);
  const request = { filename: body.filename, note: body.note };
  const answer = await notes.run(userKey, () => addNote(deps, userKey, request));
  context.header('location', `/v1/memory/files/${answer.path}`);
  return context.json(answer, 201);
}
