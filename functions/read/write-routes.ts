import type { Context } from 'hono';
import { InvalidInputError } from '../../core/errors.ts';
import { type CitationSource, recordCitation } from '../../core/memory/record-citation.ts';
import type { Route } from '../http/create-app.ts';
import { readJsonBody } from '../http/read-body.ts';
import { readHeader, readQuery } from '../http/read-query.ts';
import type { ReadAppDeps } from './deps.ts';
import { citationBody, citationQuery, idempotencyKey } from './schema-citations.ts';

/** What a reader gives back: citations (behaviours 1.O, 1.P). Notes are versions, and belong to who may write one. */
export function writeRoutes(deps: ReadAppDeps): readonly Route[] {
  return [{ method: 'POST', path: '/v1/citations', handle: (context) => answerCitation(deps, context) }];
}

async function answerCitation(deps: ReadAppDeps, context: Context): Promise<Response> {
  const { userKey } = deps.identify(context.req.raw, context.env);
  const query = readQuery(context.req.url, citationQuery);
  const header = readHeader(context.req.raw.headers, 'idempotency-key', idempotencyKey);
  if (query.idempotency_key !== undefined && header !== undefined && query.idempotency_key !== header) {
    throw new InvalidInputError(
      'http.invalid_field',
      'idempotency_key and the header Idempotency-Key must be the same',
      {
        details: { in: 'query', field: 'idempotency_key' },
      },
    );
  }
  const body = await readJsonBody(context.req.raw, citationBody);
  const source: CitationSource = body.citation === undefined ? { text: body.text ?? '' } : { citation: body.citation };
  const answer = await recordCitation(deps, userKey, { source, idempotencyKey: query.idempotency_key ?? header });
  return context.json(answer);
}
