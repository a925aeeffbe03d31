import { describe, expect, it } from 'vitest';
import { DefectError, UnavailableError } from '../../../core/errors.ts';
import { MemoryHeadStore } from '../../doubles/memory-head-store.ts';
import { readWorld } from './read-world.ts';

const POSTS = ['/v1/memory/search', '/v1/memory/notes', '/v1/citations'];
const MARKER = 'words-of-the-user';

describe.each(POSTS)('POST %s', (path) => {
  it.each<[string, number, string, string | Uint8Array<ArrayBuffer>, Record<string, string>]>([
    ['no body', 400, 'http.invalid_json', '', {}],
    ['half a body', 400, 'http.invalid_json', `{"note":"${MARKER}`, {}],
    ['bytes that are no text', 400, 'http.invalid_json', new Uint8Array([0xff, 0xfe]), {}],
    ['deep JSON', 400, 'http.invalid_field', '['.repeat(400_000) + ']'.repeat(400_000), {}],
    ['a null', 400, 'http.invalid_field', 'null', {}],
    ['10 MB', 413, 'http.body_too_large', `"${'x'.repeat(10_485_760)}"`, {}],
    ['a form', 415, 'http.unsupported_media_type', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a compressed body', 415, 'http.unsupported_media_type', '{}', { 'content-encoding': 'gzip' }],
  ])('refuses %s with %s', async (_, status, code, raw, headers) => {
    const { ask, telemetry } = readWorld();
    const answer = await ask(path, {
      method: 'POST',
      raw,
      headers: { 'content-type': 'application/json', ...headers },
    });
    expect([answer.status, answer.json]).toMatchObject([status, { code }]);
    expect(answer.text).not.toContain(MARKER);
    expect(telemetry.events).toEqual([]);
  });

  it('refuses a caller who is not known before it reads the body', async () => {
    const raw = new ReadableStream(
      {
        pull() {
          throw new Error('the body was read');
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { authorization: 'Bearer nobody', 'content-type': 'application/json' };
    expect((await readWorld().ask(path, { method: 'POST', raw, headers })).status).toBe(401);
  });
});

describe('a store that fails', () => {
  class BrokenHeads extends MemoryHeadStore {
    readonly #failure: unknown;

    constructor(failure: unknown) {
      super();
      this.#failure = failure;
    }

    override async read(): Promise<never> {
      throw this.#failure;
    }
  }

  it.each([
    [503, new UnavailableError('store.down', 'the store is not reachable', { details: { retry_after_ms: 7_000 } })],
    [500, new DefectError('store.unreadable', MARKER, { details: { row: MARKER } })],
    [500, new RangeError(MARKER)],
  ])('is answered %s on every route, and nothing of it is shown or logged', async (status, failure) => {
    const { ask, telemetry } = readWorld({ heads: new BrokenHeads(failure) });
    const answers = [
      await ask('/v1/status'),
      await ask('/v1/memory'),
      await ask('/v1/memory/notes', { method: 'POST', body: { note: MARKER } }),
      await ask('/v1/memory/files'),
      await ask('/v1/memory/files/MEMORY.md'),
      await ask('/v1/memory/search', { method: 'POST', body: { queries: [MARKER] } }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(status);
      expect(answer.headers.get('retry-after')).toBe(status === 503 ? '7' : null);
      expect(answer.text).not.toContain(MARKER);
    }
    expect(telemetry.events).toHaveLength(answers.length);
    expect(JSON.stringify(telemetry.events)).not.toMatch(new RegExp(`${MARKER}|MEMORY`));
  });
});
