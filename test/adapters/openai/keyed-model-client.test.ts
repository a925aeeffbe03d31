import { afterEach, describe, expect, it } from 'vitest';
import { KeyedModelClient, type KeySource } from '../../../adapters/openai/keyed-model-client.ts';
import { ModelWithinDeadline } from '../../../core/agent/model-within-deadline.ts';
import { DefectError, UnavailableError } from '../../../core/errors.ts';
import type { ModelRequest } from '../../../core/ports/model-client.ts';
import {
  completedAnswer,
  errorAnswer,
  type ScriptedAnswer,
  type ScriptedOpenAi,
  startScriptedOpenAi,
} from '../../support/scripted-openai.ts';

const OLD = ['sk', 'old', '0123456789'].join('-');
const NEW = ['sk', 'new', '9876543210'].join('-');
const REQUEST: ModelRequest = {
  purpose: 'extraction',
  model: 'gpt-5.4-mini',
  instructions: 'Read.',
  items: [{ kind: 'message', role: 'user', text: 'evidence' }],
  reasoningEffort: 'low',
  maxOutputTokens: 100,
  timeoutMs: 5_000,
};
const BAD_KEY = errorAnswer(401, { code: 'invalid_api_key' });

let server: ScriptedOpenAi | undefined;
afterEach(async () => {
  const open = server;
  server = undefined;
  await open?.close();
});

async function serve(keys: KeySource, ...script: readonly ScriptedAnswer[]): Promise<KeyedModelClient> {
  server = await startScriptedOpenAi(script);
  return new KeyedModelClient(keys, { baseUrl: server.baseUrl });
}

/** A key that is `OLD` until it is looked up anew. */
class Rotated implements KeySource {
  readonly #fresh: string;
  #key = OLD;
  refreshes = 0;

  constructor(fresh: string) {
    this.#fresh = fresh;
  }

  async current(): Promise<string> {
    return this.#key;
  }

  async refresh(): Promise<string> {
    this.refreshes++;
    this.#key = this.#fresh;
    return this.#key;
  }
}

function usedKeys(): readonly unknown[] {
  return server?.requests.map((request) => request.headers['authorization']) ?? [];
}

describe('KeyedModelClient', () => {
  it('asks again once with a key that was rotated, and keeps it', async () => {
    const keys = new Rotated(NEW);
    const client = await serve(keys, BAD_KEY, completedAnswer('hello'), completedAnswer('again'));
    expect(await client.respond(REQUEST)).toMatchObject({ kind: 'reply', text: 'hello' });
    expect(await client.respond(REQUEST)).toMatchObject({ kind: 'reply', text: 'again' });
    expect(usedKeys()).toEqual([`Bearer ${OLD}`, `Bearer ${NEW}`, `Bearer ${NEW}`]);
    expect(keys.refreshes).toBe(1);
  });

  it('looks a key up anew that cannot be sent', async () => {
    const keys: KeySource = { current: async () => `${OLD}\n`, refresh: async () => NEW };
    const client = await serve(keys, completedAnswer('hello'));
    expect(await client.respond(REQUEST)).toMatchObject({ kind: 'reply', text: 'hello' });
    expect(usedKeys()).toEqual([`Bearer ${NEW}`]);
  });

  it('does not repeat a call whose key is still the same', async () => {
    const keys = new Rotated(OLD);
    const client = await serve(keys, BAD_KEY);
    expect(await client.respond(REQUEST)).toEqual({ kind: 'misconfigured', code: 'invalid_api_key' });
    expect(keys.refreshes).toBe(1);
  });

  it('looks the key up once a call, also when the fresh one is refused', async () => {
    const keys = new Rotated(NEW);
    const client = await serve(keys, BAD_KEY, errorAnswer(401, { code: 'some_other_word' }));
    expect(await client.respond(REQUEST)).toEqual({ kind: 'misconfigured', code: 'http_401' });
    expect(keys.refreshes).toBe(1);
  });

  it.each([
    [errorAnswer(403, { code: 'forbidden' })],
    [errorAnswer(404, { code: 'model_not_found' })],
    [errorAnswer(429, { code: 'rate_limit_exceeded' })],
    [errorAnswer(500, { code: 'server_error' })],
  ])('leaves the key alone on $status', async (answer) => {
    const keys = new Rotated(NEW);
    await (await serve(keys, answer)).respond(REQUEST);
    expect(keys.refreshes).toBe(0);
  });

  it('answers a key that cannot be looked up as a value, without a call', async () => {
    const broken = (error: Error): KeySource => ({
      current: () => Promise.reject(error),
      refresh: () => Promise.reject(error),
    });
    const out = await serve(broken(new UnavailableError('secret.unavailable', 'out')));
    expect(await out.respond(REQUEST)).toEqual({ kind: 'unavailable', code: 'secret.unavailable' });
    await server?.close();
    const gone = await serve(broken(new DefectError('secret.unreadable', 'gone')));
    expect(await gone.respond(REQUEST)).toEqual({ kind: 'misconfigured', code: 'secret.unreadable' });
  });

  it('answers the refusal of the look-up where the fresh key cannot be had', async () => {
    const keys: KeySource = {
      current: async () => OLD,
      refresh: () => Promise.reject(new UnavailableError('secret.unavailable', 'out')),
    };
    const client = await serve(keys, BAD_KEY);
    expect(await client.respond(REQUEST)).toEqual({ kind: 'unavailable', code: 'secret.unavailable' });
  });

  it('C37 a provider that never answers is given up before the deadline, after one request', async () => {
    const client = await serve({ current: async () => OLD, refresh: async () => OLD }, { fault: 'hang' });
    const endsAt = performance.now() + 400;
    const remainingMs = () => endsAt - performance.now();
    const inTime = new ModelWithinDeadline(client, { remainingMs, reserveMs: 200, leastMs: 1 });
    expect(await inTime.respond({ ...REQUEST, timeoutMs: 600_000 })).toEqual({ kind: 'unavailable', code: 'timeout' });
    expect(server?.requests).toHaveLength(1);
  });
});
