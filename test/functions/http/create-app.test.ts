import { describe, expect, it } from 'vitest';
import { ConflictError, DefectError, UnavailableError } from '../../../core/errors.ts';
import { createApp } from '../../../functions/http/create-app.ts';
import { RecordingTelemetry } from '../../doubles/recording-telemetry.ts';

const MARKER = 'text-of-a-user';

function makeApp(requestTimeoutMs = 60_000) {
  const telemetry = new RecordingTelemetry();
  let tokens = 0;
  const fail = (error: unknown) => () => {
    throw error;
  };
  const app = createApp({
    routes: [
      { method: 'GET', path: '/things', handle: (context) => context.json({ things: [] }) },
      { method: 'POST', path: '/things', handle: (context) => context.json({ made: true }, 201) },
      { method: 'POST', path: '/conflict', handle: fail(new ConflictError('thing.exists', 'there is one')) },
      { method: 'GET', path: '/outage', handle: fail(new UnavailableError('store.down', 'the store is down')) },
      { method: 'GET', path: '/defect/:id', handle: fail(new DefectError('store.broken', MARKER)) },
      { method: 'GET', path: '/type-error', handle: fail(new TypeError(MARKER)) },
      { method: 'GET', path: '/never', handle: () => new Promise<Response>(() => {}) },
    ],
    tokens: { next: () => `00000000-0000-4000-8000-${String(++tokens).padStart(12, '0')}` },
    telemetry,
    requestTimeoutMs,
  });
  return { app, telemetry };
}

describe('createApp', () => {
  it('serves its routes, and HEAD where it serves GET', async () => {
    const { app } = makeApp();
    expect(await (await app.request('/things')).json()).toEqual({ things: [] });
    expect((await app.request('/things', { method: 'POST' })).status).toBe(201);
    const head = await app.request('/things', { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
  });

  it('forbids browsers to guess types, also in problems', async () => {
    const { app } = makeApp();
    for (const path of ['/things', '/nothing', '/defect/1'])
      expect((await app.request(path)).headers.get('x-content-type-options')).toBe('nosniff');
  });

  it.each(['/nothing', '/things/', '/things/1', '/', '/THINGS', '/%E6%87', '/%00'])(
    'answers 404 for the unknown route %s',
    async (path) => {
      const answer = await makeApp().app.request(path);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ code: 'http.no_such_route', title: 'Not Found' });
    },
  );

  it.each([
    ['DELETE', '/things', 'GET, HEAD, POST'],
    ['OPTIONS', '/things', 'GET, HEAD, POST'],
    ['GET', '/conflict', 'POST'],
    ['HEAD', '/conflict', 'POST'],
    ['POST', '/outage', 'GET, HEAD'],
  ])('answers %s %s with 405 and Allow: %s', async (method, path, allow) => {
    const answer = await makeApp().app.request(path, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe(allow);
  });

  it('answers a conflict with 409, or with 412 where a precondition was sent', async () => {
    const { app } = makeApp();
    expect((await app.request('/conflict', { method: 'POST' })).status).toBe(409);
    const conditional = await app.request('/conflict', { method: 'POST', headers: { 'if-match': '"1"' } });
    expect(conditional.status).toBe(412);
  });

  it.each([
    ['/defect/secret-id', '/defect/:id', 'store.broken', null],
    ['/type-error', '/type-error', 'http.unexpected', 'TypeError'],
  ])('logs the failure of %s by its pattern and code, without content', async (path, route, code, cause) => {
    const { app, telemetry } = makeApp();
    const answer = await app.request(`${path}?q=${MARKER}`, { headers: { 'x-note': MARKER } });
    const body = await answer.text();
    expect(answer.status).toBe(500);
    const { instance } = telemetry.events[0]?.fields ?? {};
    expect(instance).toMatch(/^urn:uuid:/);
    expect(JSON.parse(body)).toMatchObject({ instance });
    expect(telemetry.events).toEqual([
      { level: 'error', name: 'http.failure', fields: { instance, method: 'GET', route, status: 500, code, cause } },
    ]);
    expect(body + JSON.stringify(telemetry.events)).not.toMatch(new RegExp(`${MARKER}|secret-id|\\.ts:`));
  });

  it('logs outages but not the mistakes of callers', async () => {
    const { app, telemetry } = makeApp();
    await app.request('/nothing');
    await app.request('/conflict', { method: 'POST' });
    expect(telemetry.events).toEqual([]);
    await app.request('/outage');
    expect(telemetry.events).toMatchObject([{ name: 'http.failure', fields: { status: 503, code: 'store.down' } }]);
  });

  it('answers 503 with Retry-After when a request takes too long', async () => {
    const answer = await makeApp(1).app.request('/never');
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(await answer.json()).toMatchObject({ code: 'http.timed_out' });
  });
});
