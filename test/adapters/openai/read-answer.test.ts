import { createServer, type Server, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { OpenAiModelClient } from '../../../adapters/openai/openai-model-client.ts';
import { answerLimit, parseAnswer } from '../../../adapters/openai/read-answer.ts';
import { paidUsage } from '../../../core/agent/paid-usage.ts';
import type { ModelReply, ModelRequest } from '../../../core/ports/model-client.ts';
import { LIMITS } from '../../../core/settings.ts';

const REQUEST: ModelRequest = {
  purpose: 'extraction',
  model: 'm',
  instructions: 'Read.',
  items: [],
  reasoningEffort: 'low',
  maxOutputTokens: 1_000,
  timeoutMs: 20_000,
};

let server: Server | undefined;
afterEach(async () => {
  const open = server;
  server = undefined;
  open?.closeAllConnections();
  await new Promise((resolve) => open?.close(resolve) ?? resolve(undefined));
});

/** Asks a server that answers in this way. */
async function ask(
  answer: (outgoing: ServerResponse) => void,
  apiMode: 'responses' | 'chat' = 'responses',
): Promise<ModelReply> {
  const started = createServer((incoming, outgoing) => {
    incoming.resume();
    answer(outgoing);
  });
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  const address = started.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return new OpenAiModelClient({ apiKey: 'key', baseUrl: `http://127.0.0.1:${port}/v1`, apiMode }).respond(REQUEST);
}

function answerWith(body: string | Buffer, headers: Readonly<Record<string, string>> = {}) {
  return (outgoing: ServerResponse): void => {
    outgoing.writeHead(200, { 'content-type': 'application/json', ...headers });
    outgoing.end(body);
  };
}

/** Writes for as long as somebody reads. @returns the promise that the connection is cut */
function writeEndlessly(outgoing: ServerResponse, status: number): Promise<void> {
  const chunk = Buffer.alloc(65_536, '{"a":');
  const write = (): void => {
    while (!outgoing.destroyed && outgoing.write(chunk));
  };
  outgoing.writeHead(status, { 'content-type': 'application/json' });
  outgoing.on('drain', write);
  write();
  return new Promise((resolve) => outgoing.on('close', () => resolve()));
}

describe('the body of an answer', () => {
  it('may be as large as the largest answer that is ever asked for, in any script, and not much larger', () => {
    const largest = 2 * LIMITS.agentOutputTokens;
    expect(answerLimit({ ...REQUEST, maxOutputTokens: largest })).toBeGreaterThan(largest * '\\u65e5\\u672c'.length);
    expect(answerLimit({ ...REQUEST, maxOutputTokens: largest })).toBeLessThan(8 * 1_048_576);
  });

  it.each([
    [200, 'response_too_large', null],
    [500, 'http_500', 0],
    [400, 'http_400', 0],
  ])('without an end is read up to the limit only, with status %d too', async (status, code, paid) => {
    let cut: Promise<void> | undefined;
    const reply = await ask((outgoing) => {
      cut = writeEndlessly(outgoing, status);
    });
    await cut;
    expect(reply).toMatchObject({ code });
    expect(paidUsage(reply)?.totalTokens ?? null).toBe(paid);
  });

  it('is measured unpacked', async () => {
    const packed = gzipSync(Buffer.alloc(4_000_000, ' '));
    expect(packed.length).toBeLessThan(10_000);
    const reply = await ask(answerWith(packed, { 'content-encoding': 'gzip' }));
    expect(reply).toEqual({ kind: 'unavailable', code: 'response_too_large' });
  });

  it('is read whole below the limit, characters cut between two pieces and a byte order mark included', async () => {
    const text = '日本語'.repeat(50_000);
    const output = [{ type: 'message', content: [{ type: 'output_text', text }] }];
    const reply = await ask(answerWith(`\ufeff${JSON.stringify({ status: 'completed', output })}`));
    expect(reply).toMatchObject({ kind: 'reply', model: 'm', usage: null });
    expect(reply.kind === 'reply' && reply.text === text).toBe(true);
  });

  it.each<[string, string, string]>([
    ['a web page', '<html>Sign in</html>', 'text/html'],
    ['no JSON', '{"output":[', 'application/json'],
    ['nothing', '', 'application/json'],
    ['JSON of another kind', '{"ok":true}', 'application/json'],
    ['deep arrays', '['.repeat(900_000), 'application/json'],
    ['a deep whole array', `${'['.repeat(500_000)}${']'.repeat(500_000)}`, 'application/json'],
    ['deep sealed reasoning', `{"output":[{"type":"reasoning","x":${'['.repeat(9_999)}${']'.repeat(9_999)}}]}`, ''],
  ])('that is %s may have been paid for and is tried again later', async (_case, body, type) => {
    for (const mode of ['responses', 'chat'] as const) {
      const reply = await ask(answerWith(body, { 'content-type': type }), mode);
      expect(reply).toEqual({ kind: 'unavailable', code: 'response_not_understood' });
      expect(paidUsage(reply)).toBeNull();
      server?.closeAllConnections();
      server?.close();
    }
  });
});

describe('parseAnswer', () => {
  it('counts only brackets that nest, not those of texts', () => {
    const value = { text: '[{"\\'.repeat(500), list: Array.from({ length: 500 }, () => [{}]) };
    expect(parseAnswer(JSON.stringify(value))).toEqual(value);
    expect(parseAnswer(`${'['.repeat(100)}${']'.repeat(100)}`)).toBeInstanceOf(Array);
    expect(parseAnswer(`${'['.repeat(101)}${']'.repeat(101)}`)).toBeUndefined();
  });
});
