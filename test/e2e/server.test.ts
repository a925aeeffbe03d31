import { once } from 'node:events';
import { connect } from 'node:net';
import { Hono } from 'hono';
import { afterEach, describe, expect, it } from 'vitest';
import { type RunningServer, type ServerOptions, startServer } from '../../local/server.ts';
import { sendRaw } from '../support/raw-request.ts';

const TOKEN = 'a-token-made-for-this-test';
const open: RunningServer[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await server.close(0);
});

async function serve(options: Partial<ServerOptions> = {}): Promise<RunningServer> {
  const server = await startServer({ app: echoApp(), port: 0, token: null, ...options });
  open.push(server);
  return server;
}

function echoApp(): Hono {
  const app = new Hono();
  app.get('/healthz', (context) => context.json({ status: 'ok' }));
  app.all('/echo', async (context) => context.text(`${context.req.method} ${(await context.req.text()).length}`));
  return app;
}

/** An app whose requests wait until they are let go. */
function gatedApp() {
  const gates: (() => void)[] = [];
  let announce: () => void = () => {};
  const app = {
    fetch: async (): Promise<Response> => {
      const gate = Promise.withResolvers<void>();
      gates.push(gate.resolve);
      announce();
      await gate.promise;
      return new Response('done');
    },
  };
  const arrived = (count: number): Promise<void> =>
    new Promise((resolve) => {
      announce = () => gates.length >= count && resolve();
      announce();
    });
  const release = (): void => {
    for (const gate of gates.splice(0)) gate();
  };
  return { app, arrived, release };
}

describe('the local server', () => {
  it('serves the app on loopback and tells its address', async () => {
    const { port, url } = await serve();
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect(await sendRaw({ port, path: '/echo', method: 'POST', body: 'abc' })).toMatchObject({
      status: 200,
      text: 'POST 3',
    });
  });

  it.each(['127.0.0.1', '127.0.0.1:8787', 'localhost', 'LOCALHOST:1', '[::1]:80', '127.8.9.10'])(
    'answers under the loopback name %s',
    async (host) => {
      const { port } = await serve();
      expect((await sendRaw({ port, path: '/echo', headers: { host } })).status).toBe(200);
    },
  );

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.0.0.999',
    '0.0.0.0',
    '[::]',
    '192.168.0.1',
    'localhost:80:80',
    'localhost:99999',
    'user@localhost',
    '',
  ])('refuses the foreign host %j', async (host) => {
    const { port } = await serve();
    const answer = await sendRaw({ port, path: '/echo', headers: { host } });
    expect(answer.status).toBe(403);
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(JSON.parse(answer.text)).toMatchObject({ status: 403, code: 'http.foreign_host' });
  });

  it('answers nothing of the app to a request without a host', async () => {
    const { port } = await serve();
    expect((await sendRaw({ port, path: '/echo', headers: {} })).status).toBe(400);
  });

  it.each(['http://localhost:3000', 'http://127.0.0.1', 'https://localhost'])('lets pages of %s in', async (origin) => {
    const { port } = await serve();
    expect((await sendRaw({ port, path: '/echo', headers: { host: 'localhost', origin } })).status).toBe(200);
  });

  it.each([
    'https://evil.example',
    'null',
    '',
    'http://localhost.evil.example',
    'file://',
    'http://localhost@evil.example',
  ])('refuses pages of origin %j', async (origin) => {
    const { port } = await serve();
    const answer = await sendRaw({ port, path: '/echo', headers: { host: 'localhost', origin } });
    expect(answer.status).toBe(403);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'http.foreign_origin' });
  });

  it('lets in who carries the token', async () => {
    const { port } = await serve({ token: TOKEN });
    const headers = { host: 'localhost', authorization: `Bearer ${TOKEN}` };
    expect((await sendRaw({ port, path: '/echo', headers })).status).toBe(200);
  });

  it.each([
    ['no token', {}],
    ['another token', { authorization: `Bearer ${TOKEN}x` }],
    ['the start of the token', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
    ['an empty token', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: `Basic ${TOKEN}` }],
  ])('refuses %s with 401, naming the scheme and not the token', async (_, sent) => {
    const { port } = await serve({ token: TOKEN });
    const answer = await sendRaw({ port, path: '/echo', headers: { host: 'localhost', ...sent } });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    expect(answer.text).not.toContain(TOKEN);
  });

  it('answers the health check without a token, but not to a foreign host', async () => {
    const { port } = await serve({ token: TOKEN });
    expect((await sendRaw({ port, path: '/healthz' })).status).toBe(200);
    expect((await sendRaw({ port, path: '/healthz/x' })).status).toBe(401);
    expect((await sendRaw({ port, path: '/healthz', headers: { host: 'evil.example' } })).status).toBe(403);
  });

  it('refuses a body that is declared over the limit', async () => {
    const { port } = await serve({ maxBodyBytes: 10 });
    const send = (body: string) =>
      sendRaw({
        port,
        path: '/echo',
        method: 'POST',
        body,
        headers: { host: 'localhost', 'content-length': String(body.length) },
      });
    expect((await send('0123456789')).status).toBe(200);
    expect((await send('0123456789a')).status).toBe(413);
  });

  it('answers 503 with Retry-After while it works on as many requests as it may', async () => {
    const { app, arrived, release } = gatedApp();
    const { port } = await serve({ app, maxConcurrent: 2 });
    const working = [sendRaw({ port }), sendRaw({ port })];
    await arrived(2);
    const refused = await sendRaw({ port });
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBe('1');
    release();
    expect((await Promise.all(working)).map((answer) => answer.status)).toEqual([200, 200]);
    const later = sendRaw({ port });
    await arrived(1);
    release();
    expect((await later).status).toBe(200);
  });

  it('says the limit to an address or headers that are too large', async () => {
    const { port } = await serve();
    const answer = await sendRaw({ port, path: `/echo?cwd=${'x'.repeat(20_000)}` });
    expect(answer.status).toBe(431);
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'http.headers_too_large', limit: 16_384 });
  });

  it('answers what is no request with a problem, and goes on', async () => {
    const { port } = await serve();
    const socket = connect(port, '127.0.0.1');
    socket.end('how do you do\r\n\r\n');
    let said = '';
    for await (const chunk of socket.setEncoding('utf8')) said += chunk;
    expect(said).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(JSON.parse(said.split('\r\n\r\n')[1] ?? '')).toMatchObject({ code: 'http.malformed', status: 400 });
    expect((await sendRaw({ port, path: '/healthz' })).status).toBe(200);
  });

  it('drops a client that does not finish its headers', async () => {
    const { port } = await serve({ headersTimeoutMs: 50 });
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /echo HTTP/1.1\r\nHost: localhost\r\nX-Slow:');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('utf8');
    });
    await once(socket, 'close');
    expect(text).toContain('408');
  });

  it('refuses new requests and finishes those at work when it closes', async () => {
    const { app, arrived, release } = gatedApp();
    const server = await serve({ app });
    const working = sendRaw({ port: server.port });
    await arrived(1);
    const closed = server.close();
    await expect(sendRaw({ port: server.port })).rejects.toThrow('ECONNREFUSED');
    release();
    expect(await working).toMatchObject({ status: 200, text: 'done', headers: { connection: 'close' } });
    expect(await closed).toBe(0);
    expect(await server.close()).toBe(0);
  });

  it('cuts what is not done within the limit when it closes', async () => {
    const { app, arrived } = gatedApp();
    const server = await serve({ app });
    const working = sendRaw({ port: server.port }).then(
      () => 'answered',
      () => 'cut',
    );
    await arrived(1);
    expect(await server.close(1)).toBe(1);
    expect(await working).toBe('cut');
  });

  it('says which port is taken', async () => {
    const { port } = await serve();
    await expect(startServer({ app: echoApp(), port, token: null })).rejects.toMatchObject({
      code: 'serve.port_in_use',
      message: `port ${port} is in use; choose another one`,
    });
  });

  it.each<[string, Partial<ServerOptions>]>([
    ['serve.not_loopback', { host: '0.0.0.0' }],
    ['serve.not_loopback', { host: '::' }],
    ['serve.not_loopback', { host: 'example.org' }],
    ['serve.invalid_port', { port: 65_536 }],
    ['serve.invalid_port', { port: 1.5 }],
    ['serve.empty_token', { token: '' }],
    ['serve.empty_token', { token: 'a b' }],
  ])('refuses to start with %s', async (code, options) => {
    await expect(startServer({ app: echoApp(), port: 0, token: null, ...options })).rejects.toMatchObject({ code });
  });
});
