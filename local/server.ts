import { createServer, type IncomingMessage, maxHeaderSize, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import {
  ConflictError,
  DeniedError,
  InvalidInputError,
  type StillroomError,
  UnavailableError,
} from '../core/errors.ts';
import { problemOf } from '../functions/http/problem.ts';
import { findRefusal, isLoopbackHost } from './request-guard.ts';

const SECOND_MS = 1_000;

export interface ServerOptions {
  readonly app: { fetch(request: Request): Response | Promise<Response> };
  /** 0 picks a free one. */
  readonly port: number;
  /** Null: no token is asked for. */
  readonly token: string | null;
  /** Loopback only; default `127.0.0.1`. */
  readonly host?: string;
  /** Requests at work at once; more are answered 503. Default 64. */
  readonly maxConcurrent?: number;
  /** Largest declared body, bytes. Default 6 MB, above the largest direct upload (api.md). */
  readonly maxBodyBytes?: number;
  /** How long the headers may take to arrive. Default 10 s. */
  readonly headersTimeoutMs?: number;
  /** How long a whole request may take to arrive. Default 30 s. */
  readonly receiveTimeoutMs?: number;
}

export interface RunningServer {
  readonly port: number;
  readonly url: string;
  /**
   * Stops accepting, lets requests at work finish, and cuts those that are not done within the limit. A second call waits
   * for the first.
   * @param limitMs default 10 s
   * @returns how many requests were cut
   */
  close(limitMs?: number): Promise<number>;
}

/**
 * Serves an app over HTTP on loopback, with what a server on a person's own machine needs: see `findRefusal`, a limit of
 * requests at work, limits of time, and an orderly end.
 * @throws InvalidInputError `serve.not_loopback`, `serve.invalid_port`, `serve.empty_token`
 * @throws ConflictError `serve.port_in_use`
 * @throws DeniedError `serve.port_denied`
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const host = options.host ?? '127.0.0.1';
  checkOptions(options, host);
  const inFlight = new Set<ServerResponse>();
  const server = createServer(
    {
      headersTimeout: options.headersTimeoutMs ?? 10 * SECOND_MS,
      requestTimeout: options.receiveTimeoutMs ?? 30 * SECOND_MS,
      connectionsCheckingInterval: Math.min(SECOND_MS, options.headersTimeoutMs ?? SECOND_MS),
      keepAliveTimeout: 5 * SECOND_MS,
    },
    admit(options, inFlight),
  );
  server.on('clientError', answerUnreadable);
  const port = await listen(server, host, options.port);
  let closing: Promise<number> | undefined;
  return {
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    close: (limitMs = 10 * SECOND_MS) => {
      closing ??= closeServer(server, inFlight, limitMs);
      return closing;
    },
  };
}

function checkOptions(options: ServerOptions, host: string): void {
  if (!isLoopbackHost(host.includes(':') ? `[${host}]` : host)) {
    throw new InvalidInputError('serve.not_loopback', 'the local server listens on loopback only, e.g. 127.0.0.1', {
      details: { field: 'host' },
    });
  }
  if (!Number.isInteger(options.port) || options.port < 0 || options.port > 65_535) {
    throw new InvalidInputError('serve.invalid_port', 'port must be a whole number from 0 to 65535', {
      details: { field: 'port' },
    });
  }
  if (options.token !== null && !/^\S+$/.test(options.token)) {
    throw new InvalidInputError('serve.empty_token', 'token must not be empty and must have no spaces', {
      details: { field: 'token' },
    });
  }
}

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** Refuses, or counts the request in and hands it to the app. */
function admit(options: ServerOptions, inFlight: Set<ServerResponse>): Listener {
  const rules = { token: options.token, maxBodyBytes: options.maxBodyBytes ?? 6 * 1_048_576 };
  const maxConcurrent = options.maxConcurrent ?? 64;
  const handle = getRequestListener((request) => options.app.fetch(request), { overrideGlobalObjects: false });
  return (incoming, outgoing) => {
    const refusal = findRefusal(incoming, rules) ?? (inFlight.size >= maxConcurrent ? busy(maxConcurrent) : undefined);
    if (refusal !== undefined) {
      refuse(outgoing, refusal);
      return;
    }
    inFlight.add(outgoing);
    outgoing.once('close', () => inFlight.delete(outgoing));
    void handle(incoming, outgoing);
  };
}

/** The connection ends with the answer: a body that was refused is not read. */
function refuse(outgoing: ServerResponse, refusal: StillroomError): void {
  const answer = problemOf(refusal, { precondition: false }, 'about:blank');
  const headers = { 'content-type': 'application/problem+json', 'cache-control': 'no-store', connection: 'close' };
  outgoing.writeHead(answer.problem.status, { ...headers, ...answer.headers });
  outgoing.end(JSON.stringify(answer.problem));
}

/** What could not be read as a request reaches no app, and is answered in the form of every other failure. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { problem } = problemOf(unreadable(error.code), { precondition: false }, 'about:blank');
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    'content-type: application/problem+json',
    'cache-control: no-store',
    'connection: close',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function unreadable(code: string | undefined): StillroomError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const limit = maxHeaderSize;
    return new InvalidInputError(
      'http.headers_too_large',
      `the address and the headers must have at most ${limit} bytes together`,
      { details: { in: 'header', limit } },
    );
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new InvalidInputError('http.receive_timed_out', 'the request did not arrive in time');
  return new InvalidInputError('http.malformed', 'what arrived is not an HTTP/1.1 request');
}

function busy(limit: number): UnavailableError {
  return new UnavailableError(
    'http.too_many_requests_at_once',
    `the server works on at most ${limit} requests at once`,
    {
      details: { limit, retry_after_ms: SECOND_MS },
    },
  );
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenFailure(error, port)));
    server.listen({ host, port }, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function listenFailure(error: NodeJS.ErrnoException, port: number): Error {
  if (error.code === 'EADDRINUSE') {
    return new ConflictError('serve.port_in_use', `port ${port} is in use; choose another one`, {
      details: { port },
      cause: error,
    });
  }
  if (error.code === 'EACCES') {
    return new DeniedError('serve.port_denied', `port ${port} may not be opened; choose one above 1023`, {
      details: { port },
      cause: error,
    });
  }
  return error;
}

async function closeServer(server: Server, inFlight: Set<ServerResponse>, limitMs: number): Promise<number> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // An answer that goes out from now on ends its connection; otherwise a kept-alive one would hold the server open.
  for (const outgoing of inFlight) if (!outgoing.headersSent) outgoing.setHeader('connection', 'close');
  server.closeIdleConnections();
  let cut = 0;
  const timer = setTimeout(() => {
    cut = inFlight.size;
    server.closeAllConnections();
  }, limitMs);
  await closed;
  clearTimeout(timer);
  return cut;
}
