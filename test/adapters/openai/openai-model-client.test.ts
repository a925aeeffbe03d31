import { afterEach, describe, expect, it } from 'vitest';
import { OpenAiModelClient, type OpenAiSettings } from '../../../adapters/openai/openai-model-client.ts';
import { replyForSilence } from '../../../adapters/openai/provider-failure.ts';
import { paidUsage } from '../../../core/agent/paid-usage.ts';
import { NO_USAGE } from '../../../core/agent/token-usage.ts';
import type { ModelRequest } from '../../../core/ports/model-client.ts';
import {
  completedAnswer,
  errorAnswer,
  messageOutput,
  responsesAnswer,
  type ScriptedAnswer,
  type ScriptedOpenAi,
  startScriptedOpenAi,
} from '../../support/scripted-openai.ts';

const NOW = Date.parse('2026-03-03T12:00:00Z');
const KEY = ['sk', 'scripted', 'key', '0123456789'].join('-');
const REQUEST: ModelRequest = {
  purpose: 'extraction',
  model: 'gpt-5.4-mini',
  instructions: 'Read.',
  items: [{ kind: 'message', role: 'user', text: 'evidence' }],
  reasoningEffort: 'low',
  maxOutputTokens: 100,
  timeoutMs: 5_000,
};

let server: ScriptedOpenAi | undefined;
afterEach(async () => {
  const open = server;
  server = undefined;
  await open?.close();
});

async function serve(
  script: readonly ScriptedAnswer[],
  settings: Partial<OpenAiSettings> = {},
): Promise<OpenAiModelClient> {
  server = await startScriptedOpenAi(script);
  return new OpenAiModelClient({ apiKey: KEY, baseUrl: server.baseUrl, now: () => NOW, ...settings });
}

function bodies(): readonly Readonly<Record<string, unknown>>[] {
  return server?.requests.map((request) => request.body) ?? [];
}

describe('OpenAiModelClient, what it sends', () => {
  it('is stateless: storage off, no chaining, the whole conversation, the given address, model and key', async () => {
    const client = await serve([completedAnswer('hello')]);
    await client.respond({
      ...REQUEST,
      items: [
        { kind: 'message', role: 'user', text: 'q' },
        { kind: 'opaque', json: '{"type":"reasoning","id":"rs_1","encrypted_content":"abc"}' },
        { kind: 'message', role: 'assistant', text: 'a' },
        { kind: 'tool_call', callId: 'c1', name: 'read', arguments: '{}' },
        { kind: 'tool_result', callId: 'c1', text: 'r' },
      ],
      output: { name: 'answer', schema: { type: 'object' } },
      tools: [{ name: 'read', description: 'Reads.', parameters: { type: 'object' } }],
    });
    const [seen] = server?.requests ?? [];
    expect(seen).toMatchObject({ method: 'POST', path: '/v1/responses', headers: { authorization: `Bearer ${KEY}` } });
    expect(seen?.body).toEqual({
      model: 'gpt-5.4-mini',
      instructions: 'Read.',
      input: [
        { type: 'message', role: 'user', content: 'q' },
        { type: 'reasoning', id: 'rs_1', encrypted_content: 'abc' },
        { type: 'message', role: 'assistant', content: 'a' },
        { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'r' },
      ],
      store: false,
      max_output_tokens: 100,
      prompt_cache_key: 'stillroom-extraction',
      service_tier: 'flex',
      reasoning: { effort: 'low' },
      include: ['reasoning.encrypted_content'],
      text: { format: { type: 'json_schema', name: 'answer', schema: { type: 'object' }, strict: true } },
      tools: [{ type: 'function', name: 'read', description: 'Reads.', parameters: { type: 'object' }, strict: true }],
      tool_choice: 'auto',
    });
  });

  it.each([
    ['gpt-5.4', true],
    ['openai/o3', true],
    ['codex-mini-latest', true],
    ['gpt-4o', false],
    ['gpt-5-chat-latest', false],
    ['offline', false],
  ])('asks %s for encrypted reasoning: %s', async (model, asks) => {
    const client = await serve([completedAnswer('')]);
    await client.respond({ ...REQUEST, model });
    expect('include' in (bodies()[0] ?? {})).toBe(asks);
  });

  it('takes nothing from the environment of the SDK', async () => {
    const client = await serve([completedAnswer('')]);
    const before = { ...process.env };
    Object.assign(process.env, {
      OPENAI_ORG_ID: 'org',
      OPENAI_PROJECT_ID: 'pro',
      OPENAI_BASE_URL: 'http://127.0.0.1:9',
    });
    try {
      expect((await client.respond(REQUEST)).kind).toBe('reply');
    } finally {
      for (const name of ['OPENAI_ORG_ID', 'OPENAI_PROJECT_ID', 'OPENAI_BASE_URL']) {
        if (before[name] === undefined) delete process.env[name];
        else process.env[name] = before[name];
      }
    }
    expect(server?.requests[0]?.headers).not.toHaveProperty('openai-organization');
    expect(server?.requests[0]?.headers).not.toHaveProperty('openai-project');
  });

  it('never sends half a surrogate pair, which some providers refuse', async () => {
    const client = await serve([completedAnswer('')]);
    await client.respond({ ...REQUEST, items: [{ kind: 'message', role: 'user', text: 'a\ud800b' }] });
    expect(bodies()[0]?.['input']).toEqual([{ type: 'message', role: 'user', content: 'a\ufffdb' }]);
  });

  it('does not follow a redirect with a transcript in hand', async () => {
    const client = await serve([{ status: 307, headers: { location: 'http://127.0.0.1:9/v1/responses' }, json: {} }]);
    expect(await client.respond(REQUEST)).toEqual({ kind: 'misconfigured', code: 'http_307' });
  });
});

describe('OpenAiModelClient, what it reads', () => {
  it('gives text, usage, model and rate limits', async () => {
    const client = await serve([
      {
        ...completedAnswer('hello'),
        headers: {
          'x-ratelimit-limit-requests': '100',
          'x-ratelimit-remaining-requests': '25',
          'x-ratelimit-reset-requests': '6m0.5s',
          'x-ratelimit-limit-tokens': '-1',
          'x-ratelimit-remaining-tokens': '-1',
        },
      },
    ]);
    expect(await client.respond(REQUEST)).toEqual({
      kind: 'reply',
      text: 'hello',
      toolCalls: [],
      items: [{ kind: 'message', role: 'assistant', text: 'hello' }],
      usage: {
        inputTokens: 10,
        cachedInputTokens: 2,
        cacheWriteInputTokens: 4,
        outputTokens: 3,
        reasoningOutputTokens: 1,
        totalTokens: 13,
      },
      model: 'scripted-1',
      rateLimits: [{ name: 'requests', remainingPercent: 25, resetsAt: NOW + 360_500 }],
    });
  });

  it('gives tool calls, and all items in their order, encrypted reasoning as it came', async () => {
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'abc' };
    const call = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'read', arguments: '{"path":"a"}' };
    const client = await serve([responsesAnswer([reasoning, call, { type: 'some_new_item' }], { usage: null })]);
    expect(await client.respond(REQUEST)).toMatchObject({
      kind: 'reply',
      text: '',
      toolCalls: [{ callId: 'c1', name: 'read', arguments: '{"path":"a"}' }],
      items: [
        { kind: 'opaque', json: JSON.stringify(reasoning) },
        { kind: 'tool_call', callId: 'c1', name: 'read', arguments: '{"path":"a"}' },
      ],
      usage: null,
    });
  });

  it.each<[string, ScriptedAnswer, object]>([
    ['a refusal part', responsesAnswer([messageOutput({ type: 'refusal', refusal: 'no' })]), { kind: 'refused' }],
    [
      'an answer cut by its limit',
      completedAnswer('{"a":', { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }),
      { kind: 'incomplete', reason: 'length', usage: { totalTokens: 13 } },
    ],
    [
      'an answer cut by a filter',
      completedAnswer('', { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }),
      { kind: 'incomplete', reason: 'filter' },
    ],
    [
      'a failed response',
      responsesAnswer([], { status: 'failed', error: { code: 'server_error', message: 'x' } }),
      { kind: 'unavailable', code: 'server_error' },
    ],
    [
      'a failed response: rate limit',
      responsesAnswer([], { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'x' } }),
      { kind: 'rate_limited', retryAfterMs: null },
    ],
    [
      'a failed response: prompt flagged',
      responsesAnswer([], { status: 'failed', error: { code: 'invalid_prompt', message: 'x' } }),
      { kind: 'refused' },
    ],
    ['a response still in progress', responsesAnswer([], { status: 'in_progress' }), { kind: 'unavailable' }],
    ['JSON of another API', { json: { ok: true } }, { kind: 'unavailable', code: 'response_not_understood' }],
    ['a bad key', errorAnswer(401, { code: 'invalid_api_key' }), { kind: 'misconfigured', code: 'invalid_api_key' }],
    ['no permission', errorAnswer(403, { code: null, type: null }), { kind: 'misconfigured', code: 'http_403' }],
    [
      'no such model',
      errorAnswer(404, { code: 'model_not_found' }),
      { kind: 'misconfigured', code: 'model_not_found' },
    ],
    ['no such path', { status: 404, text: 'nope' }, { kind: 'misconfigured', code: 'http_404' }],
    [
      'a used-up quota',
      errorAnswer(429, { code: 'insufficient_quota' }),
      { kind: 'misconfigured', code: 'insufficient_quota' },
    ],
    ['a rate limit', errorAnswer(429, {}, { 'retry-after': '7' }), { kind: 'rate_limited', retryAfterMs: 7_000 }],
    [
      'a rate limit in ms',
      errorAnswer(429, {}, { 'retry-after-ms': '1500' }),
      { kind: 'rate_limited', retryAfterMs: 1_500 },
    ],
    [
      'a rate limit until a date',
      errorAnswer(429, {}, { 'retry-after': 'Tue, 03 Mar 2026 12:01:00 GMT' }),
      { kind: 'rate_limited', retryAfterMs: 60_000 },
    ],
    [
      'a rate limit by its window',
      errorAnswer(
        429,
        {},
        {
          'x-ratelimit-limit-tokens': '10',
          'x-ratelimit-remaining-tokens': '0',
          'x-ratelimit-reset-tokens': '1m30s',
        },
      ),
      { kind: 'rate_limited', retryAfterMs: 90_000 },
    ],
    ['a rate limit without a time', errorAnswer(429, {}), { kind: 'rate_limited', retryAfterMs: null }],
    ['a long input', errorAnswer(400, { code: 'context_length_exceeded' }), { kind: 'too_long' }],
    [
      'a long input, told in words',
      errorAnswer(400, { message: "This model's maximum context length is 4 tokens" }),
      { kind: 'too_long' },
    ],
    [
      'a request over the tokens of a minute',
      errorAnswer(429, { message: 'Request too large for the limit' }),
      { kind: 'too_long' },
    ],
    ['a large body', { status: 413, text: '' }, { kind: 'too_long' }],
    ['a filter on the input', errorAnswer(400, { code: 'content_filter' }), { kind: 'incomplete', reason: 'filter' }],
    ['a server error', { status: 500, text: 'oops' }, { kind: 'unavailable', code: 'http_500' }],
    ['an overloaded server', errorAnswer(503, {}), { kind: 'unavailable', code: 'http_503' }],
    ['a cut connection', { fault: 'reset' }, { kind: 'unavailable', code: 'connection_lost' }],
  ])('maps %s', async (_case, answer, expected) => {
    const client = await serve([answer]);
    expect(await client.respond(REQUEST)).toMatchObject(expected);
  });

  it.each(['hang', 'hang_body'] as const)('aborts a request that never ends (%s) at its time limit', async (fault) => {
    const client = await serve([{ fault }]);
    expect(await client.respond({ ...REQUEST, timeoutMs: 50 })).toEqual({ kind: 'unavailable', code: 'timeout' });
  });

  it('says which setting is wrong without a call', async () => {
    const url = 'http://127.0.0.1:1/v1';
    const at = (settings: Partial<OpenAiSettings>) =>
      new OpenAiModelClient({ apiKey: KEY, baseUrl: url, ...settings }).respond(REQUEST);
    expect(await at({ apiKey: '' })).toEqual({ kind: 'misconfigured', code: 'no_api_key' });
    expect(await at({ baseUrl: 'nonsense' })).toEqual({ kind: 'misconfigured', code: 'bad_url' });
    expect(await at({ baseUrl: 'ftp://127.0.0.1/' })).toEqual({ kind: 'misconfigured', code: 'bad_url' });
    expect(await at({ baseUrl: 'http://127.0.0.1:25/v1' })).toEqual({ kind: 'misconfigured', code: 'bad_url' });
    for (const apiKey of ['ключ', 'key\r\nx: y', 'key\n', 'k\u0000', 'ké'])
      expect(await at({ apiKey })).toEqual({ kind: 'misconfigured', code: 'bad_api_key' });
    for (const baseUrl of ['http://user@127.0.0.1:1/v1', 'http://user:pass@127.0.0.1:1/v1', 'http://:pass@127.0.0.1:1'])
      expect(await at({ baseUrl })).toEqual({ kind: 'misconfigured', code: 'url_with_credentials' });
  });

  it('counts nothing for a request that never left', async () => {
    const cause = (code: string): Error => Object.assign(new TypeError('fetch failed'), { cause: { code } });
    for (const code of ['EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'EADDRNOTAVAIL']) {
      const reply = replyForSilence(cause(code), false);
      expect(reply).toEqual({ kind: 'unavailable', code: 'unreachable' });
      expect(paidUsage(reply)).toEqual(NO_USAGE);
    }
    for (const code of ['ECONNRESET', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'EPIPE'])
      expect(paidUsage(replyForSilence(cause(code), false))).toBeNull();
    expect(paidUsage(replyForSilence(cause('ENOTFOUND'), true))).toBeNull();
  });

  it('tells a server that is not running from one that lost the connection', async () => {
    const gone = await startScriptedOpenAi([]);
    await gone.close();
    const client = new OpenAiModelClient({ apiKey: KEY, baseUrl: gone.baseUrl });
    expect(await client.respond(REQUEST)).toEqual({ kind: 'unavailable', code: 'connection_refused' });
  });

  it('never lets the key or the provider message into a reply', async () => {
    const client = await serve([
      errorAnswer(401, { code: `bad ${KEY}`, message: `Incorrect key ${KEY} for evidence` }),
    ]);
    const reply = JSON.stringify(await client.respond(REQUEST));
    expect(reply).toBe('{"kind":"misconfigured","code":"http_401"}');
  });
});

describe('OpenAiModelClient, optional parts of a request', () => {
  it('goes to the standard tier once when the cheap one has no room, and tries it again next time', async () => {
    const full = errorAnswer(429, { code: 'resource_unavailable', message: 'Resource unavailable' });
    const client = await serve([full, completedAnswer('a'), completedAnswer('b')]);
    expect(await client.respond(REQUEST)).toMatchObject({ kind: 'reply', text: 'a' });
    expect(await client.respond(REQUEST)).toMatchObject({ kind: 'reply', text: 'b' });
    expect(bodies().map((body) => body['service_tier'])).toEqual(['flex', undefined, 'flex']);
  });

  it('leaves out for good what a model does not know, one part at a time', async () => {
    const client = await serve([
      errorAnswer(400, { code: 'invalid_value', param: 'service_tier', message: 'Invalid service_tier argument' }),
      errorAnswer(400, { code: 'unsupported_parameter', param: 'reasoning.effort' }),
      completedAnswer('a'),
      completedAnswer('b'),
      completedAnswer('c'),
    ]);
    expect(await client.respond(REQUEST)).toMatchObject({ text: 'a' });
    expect(await client.respond(REQUEST)).toMatchObject({ text: 'b' });
    expect(await client.respond({ ...REQUEST, model: 'another' })).toMatchObject({ text: 'c' });
    const sent = bodies().map((body) => [body['service_tier'], 'reasoning' in body, 'include' in body]);
    expect(sent).toEqual([
      ['flex', true, true],
      [undefined, true, true],
      [undefined, false, false],
      [undefined, false, false],
      ['flex', true, false],
    ]);
  });

  it('gives up when the same part is refused although it was left out', async () => {
    const refusal = errorAnswer(400, { code: 'unsupported_parameter', param: 'reasoning.effort' });
    const client = await serve([refusal, refusal]);
    expect(await client.respond(REQUEST)).toEqual({ kind: 'misconfigured', code: 'unsupported_parameter' });
  });

  it('does not fall back for a plain rate limit, and never turns storage on', async () => {
    const client = await serve([
      errorAnswer(429, { code: 'rate_limit_exceeded', type: 'tokens' }),
      errorAnswer(400, { code: 'unknown_parameter', param: 'store' }),
    ]);
    expect((await client.respond(REQUEST)).kind).toBe('rate_limited');
    expect(await client.respond(REQUEST)).toEqual({ kind: 'misconfigured', code: 'unknown_parameter' });
  });

  it('sends no tier when told so', async () => {
    const client = await serve([completedAnswer('a')], { serviceTier: null });
    await client.respond(REQUEST);
    expect(bodies()[0]).not.toHaveProperty('service_tier');
  });
});
