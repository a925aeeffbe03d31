import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toRequest } from '../../../functions/http/gateway-event.ts';
import { readPathAfter } from '../../../functions/http/read-query.ts';
import { gatewayEvent } from '../../support/gateway-event.ts';

describe('toRequest', () => {
  it('makes the request that the client sent', async () => {
    const headers = { 'content-type': 'application/json', 'x-note': 'Zürich' };
    const request = toRequest(
      gatewayEvent({ method: 'POST', path: '/v1/memory/search?a=1%2B1&b=x+y', headers, body: '{"q":"✓"}' }),
    );
    expect(request.method).toBe('POST');
    expect(new URL(request.url).pathname).toBe('/v1/memory/search');
    expect(new URL(request.url).search).toBe('?a=1%2B1&b=x+y');
    expect(request.headers.get('content-type')).toBe('application/json');
    expect(request.headers.get('content-length')).toBe('11');
    expect(await request.text()).toBe('{"q":"✓"}');
  });

  it('gives bytes back as they were', async () => {
    const bytes = new Uint8Array([0, 255, 10, 128, 40, 181, 47, 253]);
    const request = toRequest(gatewayEvent({ method: 'PUT', path: '/v1/rollouts/t', body: bytes }));
    expect(new Uint8Array(await request.arrayBuffer())).toEqual(bytes);
    expect(request.headers.get('content-length')).toBe('8');
  });

  it.each(['GET', 'HEAD'])('has no body for %s, whatever the event holds', (method) => {
    expect(toRequest(gatewayEvent({ method, path: '/healthz', body: 'x' })).body).toBeNull();
  });

  it('lets a file name reach the app decoded exactly once', () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((text) => text.isWellFormed());
    fc.assert(
      fc.property(name, (path) => {
        const event = gatewayEvent({ path: `/v1/memory/files/skills/${encodeURIComponent(path)}` });
        expect(readPathAfter(toRequest(event).url, '/v1/memory/files/')).toBe(`skills/${path}`);
      }),
    );
  });

  it.each(['..', '../..', 'a/../b', '../../../healthz', './a', '..%2f..%2fx', '%2e%2e/%2e%2e/x', '%2e'])(
    'serves the path that was authorised: %s is not resolved',
    (steps) => {
      for (const before of ['/v1/memory/files', '/healthz']) {
        const { pathname } = new URL(toRequest({ ...gatewayEvent({ path: '/' }), rawPath: `${before}/${steps}` }).url);
        expect(pathname.startsWith(before)).toBe(true);
        expect(pathname).not.toBe(before);
        expect(pathname).not.toBe(`${before}/`);
      }
    },
  );

  it('takes the name of a stage off the path', () => {
    const path = (rawPath: string, stage: string) =>
      new URL(toRequest({ ...gatewayEvent({ path: '/', stage }), rawPath }).url).pathname;
    expect(path('/dev/v1/memory', 'dev')).toBe('/v1/memory');
    expect(path('/dev', 'dev')).toBe('/');
    expect(path('/development/v1', 'dev')).toBe('/development/v1');
    expect(path('/v1/memory', '$default')).toBe('/v1/memory');
  });

  it('leaves out headers that HTTP does not allow', () => {
    const headers = { 'x-smile': '☺', 'x-line': 'a\nb', 'bad name': 'x', 'x-good': 'y' };
    const made = toRequest(gatewayEvent({ path: '/', headers })).headers;
    expect([made.get('x-smile'), made.get('x-line'), made.get('x-good')]).toEqual([null, null, 'y']);
  });

  it.each([undefined, null, {}, { version: '1.0', path: '/' }, { Records: [] }])('refuses %j', (event) => {
    expect(() => toRequest(event)).toThrow(expect.objectContaining({ code: 'http.unreadable_event' }));
  });
});
