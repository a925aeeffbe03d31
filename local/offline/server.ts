import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { answerRequest } from './answer.ts';
import { errorObject, readRequest, responseObject } from './wire.ts';

/** Above any evidence budget; a body over it is refused. */
const MAX_BODY_BYTES = 16 * 1_048_576;

export interface OfflineModel {
  /** Such as `http://127.0.0.1:41234/v1`: what a client of the OpenAI API takes as base URL. */
  readonly baseUrl: string;
  /** Ends open connections and stops listening. */
  close(): Promise<void>;
}

type HttpAnswer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

/**
 * The offline stand-in for a model: an OpenAI-compatible Responses server on loopback, rule-based and deterministic. It
 * asks for no key, keeps nothing between requests, and is reached from this machine only. Any free port.
 */
export async function startOfflineModel(): Promise<OfflineModel> {
  const server = createServer((request, response) => {
    answerHttp(request)
      .catch(
        (): HttpAnswer => ({
          status: 500,
          body: errorObject('the offline model failed on this request', 'server_error'),
        }),
      )
      .then((answer) => send(response, answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function answerHttp(request: IncomingMessage): Promise<HttpAnswer> {
  const path = (request.url ?? '').split('?')[0];
  if (!/^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(request.headers.host ?? ''))
    return { status: 403, body: errorObject('this server answers on loopback only', 'foreign_host') };
  if (path !== '/v1/responses')
    return { status: 404, body: errorObject('only POST /v1/responses is here', 'not_found') };
  if (request.method !== 'POST') return { status: 405, body: errorObject('use POST', 'method_not_allowed') };
  const text = await readBody(request);
  if (text === undefined)
    return { status: 413, body: errorObject(`a body may have ${MAX_BODY_BYTES} bytes`, 'body_too_large') };
  const read = readRequest(parseJson(text));
  if ('fault' in read) return { status: 400, body: errorObject(read.fault, 'invalid_request') };
  const answer = await answerRequest(read);
  if (answer === undefined)
    return {
      status: 400,
      body: errorObject(
        'the offline model answers a JSON schema (Phase 1) or tools (Phase 2) only',
        'unsupported_request',
      ),
    };
  return { status: 200, body: responseObject(text, answer) };
}

/** @returns undefined when the body is larger than allowed; the rest is then not read */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    bytes += buffer.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // refused as an invalid request
  }
}

function send(response: ServerResponse, answer: HttpAnswer): void {
  const body = JSON.stringify(answer.body);
  const close = answer.status === 413 ? { connection: 'close' } : {};
  response.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-stillroom-model': 'offline-stand-in',
    ...close,
  });
  response.end(body);
}
