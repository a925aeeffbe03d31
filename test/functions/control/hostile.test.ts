import { describe, expect, it } from 'vitest';
import { DefectError, UnavailableError } from '../../../core/errors.ts';
import { MemoryThreadStore } from '../../doubles/memory-thread-store.ts';
import { controlWorld } from './control-world.ts';

const MARKER = 'words-of-the-user';
const BODIES = [
  ['POST', '/v1/rollouts'],
  ['PATCH', '/v1/threads/t-1'],
  ['PATCH', '/v1/settings'],
  ['POST', '/v1/erase'],
] as const;

describe.each(BODIES)('%s %s', (method, path) => {
  const json = { 'content-type': 'application/json' };

  it.each<[string, number, string, string | Uint8Array, Record<string, string>]>([
    ['no body', 400, 'http.invalid_json', '', json],
    ['half a body', 400, 'http.invalid_json', `{"confirm":"${MARKER}`, json],
    ['bytes that are no text', 400, 'http.invalid_json', new Uint8Array([0xff, 0xfe]), json],
    ['2 MB', 413, 'http.body_too_large', `"${'x'.repeat(2_097_152)}"`, json],
    ['a form', 415, 'http.unsupported_media_type', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['no type', 415, 'http.unsupported_media_type', '{}', {}],
    ['a compressed body', 415, 'http.unsupported_media_type', '{}', { ...json, 'content-encoding': 'gzip' }],
  ])('refuses %s with %s', async (_, status, code, raw, headers) => {
    const { ask, telemetry, putThread } = controlWorld();
    await putThread('t-1');
    const answer = await ask(path, { method, raw, headers });
    expect([answer.status, answer.json]).toMatchObject([status, { code }]);
    expect(answer.text).not.toContain(MARKER);
    expect(telemetry.events).toEqual([]);
  });
});

describe('the control app', () => {
  it.each([
    ['GET', '/v1/rollouts', 'POST'],
    ['GET', '/v1/rollouts/t-1', 'PUT'],
    ['PUT', '/v1/threads/t-1', 'GET, HEAD, PATCH, DELETE'],
    ['DELETE', '/v1/settings', 'GET, HEAD, PATCH'],
    ['GET', '/v1/erase', 'POST'],
    ['DELETE', '/v1/memory/versions/1', 'GET, HEAD'],
  ])('answers %s %s with 405 and Allow: %s', async (method, path, allow) => {
    const answer = await controlWorld().ask(path, { method });
    expect([answer.status, answer.headers['allow']]).toEqual([405, allow]);
  });

  it.each(['/', '/v1', '/v1/threads/', '/v1/memory', '/v1/threads/t/extract/x', '/healthz'])(
    'answers 404 for %s, which is none of its routes',
    async (path) => {
      expect((await controlWorld().ask(path)).json).toMatchObject({ code: 'http.no_such_route' });
    },
  );
});

describe('B31 a store that fails', () => {
  class BrokenThreads extends MemoryThreadStore {
    readonly #failure: unknown;

    constructor(failure: unknown) {
      super();
      this.#failure = failure;
    }

    override async get(): Promise<never> {
      throw this.#failure;
    }

    override async list(): Promise<never> {
      throw this.#failure;
    }

    override async update(): Promise<never> {
      throw this.#failure;
    }
  }

  it.each([
    [503, new UnavailableError('store.down', 'the store is not reachable', { details: { retry_after_ms: 7_000 } })],
    [500, new DefectError('store.unreadable', MARKER, { details: { row: MARKER } })],
    [500, new RangeError(MARKER)],
  ])('is answered %s on every route, and nothing of it is shown or logged', async (status, failure) => {
    const { ask, telemetry } = controlWorld({ threads: new BrokenThreads(failure) });
    const answers = [
      await ask('/v1/threads'),
      await ask(`/v1/threads/${MARKER}`),
      await ask(`/v1/threads/${MARKER}`, { method: 'PATCH', body: { memory_mode: 'enabled' } }),
      await ask(`/v1/threads/${MARKER}`, { method: 'DELETE' }),
      await ask(`/v1/threads/${MARKER}/extract`, { method: 'POST' }),
      await ask('/v1/rollouts', { method: 'POST', body: { thread_id: MARKER, cwd: MARKER } }),
      await ask(`/v1/rollouts/${MARKER}?cwd=${MARKER}`, { method: 'PUT', raw: MARKER }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(status);
      expect(answer.headers['retry-after']).toBe(status === 503 ? '7' : undefined);
      expect(answer.text).not.toContain(MARKER);
    }
    expect(telemetry.events).toHaveLength(answers.length);
    expect(JSON.stringify(telemetry.events)).not.toContain(MARKER);
  });
});
