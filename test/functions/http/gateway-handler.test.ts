import { describe, expect, it } from 'vitest';
import { createGatewayHandler } from '../../../functions/http/gateway-handler.ts';
import { NumberedTokens } from '../../doubles/numbered-tokens.ts';
import { gatewayEvent } from '../../support/gateway-event.ts';

const LAMBDA_LIMIT_BYTES = 6 * 1_048_576;

function handlerOf(answer: () => Response | Promise<Response>) {
  let flushed = 0;
  const seen: unknown[] = [];
  const correlated: (string | null)[] = [];
  const handle = createGatewayHandler({
    app: {
      fetch(_request, env) {
        seen.push(env);
        return answer();
      },
    },
    tokens: new NumberedTokens(),
    correlate: (ids) => correlated.push(ids.request_id),
    flush: () => {
      flushed += 1;
    },
  });
  return { handle, seen, correlated, flushed: () => flushed };
}

const event = gatewayEvent({ path: '/v1/memory' });

describe('createGatewayHandler', () => {
  it('answers text as text, with status and headers', async () => {
    const { handle, seen, flushed } = handlerOf(() =>
      Response.json({ name: 'Zürich ✓' }, { status: 201, headers: { etag: '"v1"' } }),
    );
    expect(await handle(event)).toEqual({
      statusCode: 201,
      headers: { 'content-type': 'application/json', etag: '"v1"' },
      body: '{"name":"Zürich ✓"}',
      isBase64Encoded: false,
    });
    expect(seen).toEqual([{ event }]);
    expect(flushed()).toBe(1);
  });

  it.each([
    ['bytes', 'application/octet-stream', new Uint8Array([0, 255, 1])],
    ['text that is not UTF-8', 'text/markdown; charset=utf-8', new Uint8Array([0xe6, 0x87, 0x0a])],
  ])('answers %s as base64', async (_, type, bytes) => {
    const answer = await handlerOf(() => new Response(bytes, { headers: { 'content-type': type } })).handle(event);
    expect(answer.isBase64Encoded).toBe(true);
    expect(new Uint8Array(Buffer.from(answer.body, 'base64'))).toEqual(bytes);
  });

  it('answers nothing as nothing', async () => {
    expect(await handlerOf(() => new Response(null, { status: 304 })).handle(event)).toMatchObject({
      statusCode: 304,
      body: '',
    });
  });

  it.each([
    ['control characters', '\u0000'.repeat(4_300_000)],
    ['quotes', '"'.repeat(4_300_000)],
    ['Chinese', '记'.repeat(1_430_000)],
  ])('C16 sends 4.3 MB of %s whole within the limit of Lambda', async (_, text) => {
    const headers = { 'content-type': 'text/markdown; charset=utf-8' };
    const answer = await handlerOf(() => new Response(text, { headers })).handle(event);
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(LAMBDA_LIMIT_BYTES);
    const body = Buffer.from(answer.body, answer.isBase64Encoded ? 'base64' : 'utf8').toString('utf8');
    expect(body === text).toBe(true);
  });

  it('C16 answers what is too large to be sent with a problem that names the way', async () => {
    const answer = await handlerOf(() => new Response('x'.repeat(8_000_000))).handle(event);
    expect(answer.statusCode).toBe(400);
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(JSON.parse(answer.body)).toMatchObject({
      code: 'http.answer_too_large',
      detail: expect.stringContaining('max_results'),
    });
  });

  it('names each invocation, and forgets the one before', async () => {
    const { handle, correlated } = handlerOf(() => Response.json({}));
    await handle(event, { awsRequestId: 'request-1' });
    await handle(event);
    expect(correlated).toEqual(['request-1', null]);
  });

  it('flushes also when it fails', async () => {
    const { handle, flushed } = handlerOf(() => Response.json({}));
    await expect(handle({ Records: [] })).rejects.toMatchObject({ code: 'http.unreadable_event' });
    expect(flushed()).toBe(1);
  });
});
