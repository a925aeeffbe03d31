import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { docsRoutes } from '../../../functions/control/docs-routes.ts';
import { createApp } from '../../../functions/http/create-app.ts';
import { buildDocument, OPERATIONS, renderDocument } from '../../../functions/openapi/document.ts';
import { API_ROUTES } from '../../../infra/routes.ts';
import { NumberedTokens } from '../../doubles/numbered-tokens.ts';
import { RecordingTelemetry } from '../../doubles/recording-telemetry.ts';
import { checkAnswer } from '../../support/published-contract.ts';

const PUBLISHED = join(import.meta.dirname, '../../../functions/control/openapi.json');
/** Not told of by the document: the protocol has its own, and the document does not describe itself. */
const UNDESCRIBED = new Set(['/mcp', '/openapi.json', '/docs']);

const app = createApp({
  routes: docsRoutes(),
  tokens: new NumberedTokens(),
  telemetry: new RecordingTelemetry(),
  requestTimeoutMs: 1_000,
});

const ask = (path: string, headers: Record<string, string> = {}) => app.request(path, { headers });

describe('the published document', () => {
  it('is what the schemas say now: else run "npm run openapi"', () => {
    expect(readFileSync(PUBLISHED, 'utf8')).toBe(renderDocument());
  });

  it('is a valid OpenAPI 3.1 document', async () => {
    const verdict = await new Validator().validate(buildDocument());
    expect(verdict).toMatchObject({ valid: true });
  });

  it('tells of every route that is deployed, by the same names', () => {
    const deployed = API_ROUTES.filter(({ path }) => !UNDESCRIBED.has(path)).map(
      ({ method, path }) => `${method} ${path.replaceAll('+}', '}')}`,
    );
    const told = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
    expect(told.toSorted()).toEqual(deployed.toSorted());
  });

  it('names every operation once', () => {
    const ids = OPERATIONS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('refuses one name for two schemas', () => {
    const [first, second] = OPERATIONS.filter(({ answers }) => answers[200]?.json !== undefined);
    const schema = second?.answers[200]?.json?.schema;
    const name = first?.answers[200]?.json?.name;
    if (first === undefined || second === undefined || schema === undefined || name === undefined)
      throw new Error('none');
    const clash = { ...second, answers: { 200: { description: '', json: { name, schema } } } };
    expect(() => buildDocument([first, clash])).toThrow(`two schemas are named ${name}`);
  });
});

describe('GET /openapi.json and GET /docs', () => {
  it('serve the document, and 304 to who has it', async () => {
    const answer = await ask('/openapi.json');
    expect(await answer.json()).toEqual(buildDocument());
    const tag = answer.headers.get('etag') ?? '';
    expect(tag).toMatch(/^"[0-9a-f]{32}"$/);
    expect((await ask('/openapi.json', { 'if-none-match': tag })).status).toBe(304);
    expect((await ask('/openapi.json?x=1')).status).toBe(400);
  });

  it('show a page that runs no script and loads nothing', async () => {
    const answer = await ask('/docs');
    const page = await answer.text();
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page).not.toMatch(/<script|<link|<img|src=|https?:\/\//i);
    for (const { method, path, summary } of OPERATIONS) {
      expect(page).toContain(`<code>${method} ${path}</code>`);
      expect(page).toContain(summary.replaceAll('`', ''));
    }
  });
});

describe('the check of answers that every test makes', () => {
  const answer = (status: number, body: unknown, type = 'application/json') =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': type } });
  const request = new Request('http://localhost/healthz');

  it('passes what keeps the document', async () => {
    await expect(checkAnswer(request, answer(200, { status: 'ok' }))).resolves.toBeUndefined();
  });

  it.each([
    ['another body', answer(200, { status: 'fine' }), 'breaks the published document'],
    ['one field more', answer(200, { status: 'ok', more: 1 }), 'breaks the published document'],
    ['a status it does not tell of', answer(418, {}), '418 is not in the published document'],
    ['a type it does not tell of', answer(200, {}, 'text/csv'), 'has the type text/csv'],
    ['a problem without a code', answer(404, { type: 'about:blank' }, 'application/problem+json'), 'breaks'],
  ])('refuses %s', async (_, given, message) => {
    await expect(checkAnswer(request, given)).rejects.toThrow(message);
  });
});
