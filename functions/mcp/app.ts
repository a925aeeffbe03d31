import {
  createMcpHandler,
  isJsonContentType,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Context, Hono } from 'hono';
import { InvalidInputError } from '../../core/errors.ts';
import { createApp, type Route } from '../http/create-app.ts';
import { BODY_LIMIT_BYTES, readBytes } from '../http/read-body.ts';
import { noQuery, readQuery } from '../http/read-query.ts';
import type { McpAppDeps } from './deps.ts';
import { createMemoryServer } from './memory-server.ts';

const REQUEST_TIMEOUT_MS = 10_000;

/**
 * The HTTP app of the MCP endpoint (api.md): streamable HTTP, stateless. Every request is answered by a server of its own, made
 * for the user who asks, with one JSON body and never a stream: behind API Gateway nothing can be sent later.
 */
export function createMcpApp(deps: McpAppDeps): Hono {
  return createApp({
    routes: mcpRoutes(deps),
    tokens: deps.tokens,
    telemetry: deps.telemetry,
    requestTimeoutMs: deps.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
  });
}

/** `POST /mcp`. GET and DELETE belong to sessions, which there are none of: 405. */
export function mcpRoutes(deps: McpAppDeps): readonly Route[] {
  return [{ method: 'POST', path: '/mcp', handle: (context) => answerMcp(deps, context) }];
}

/** One request of the protocol. @throws DeniedError `auth.*`; InvalidInputError `http.*` */
export async function answerMcp(deps: McpAppDeps, context: Context): Promise<Response> {
  const { userKey } = deps.identify(context.req.raw, context.env);
  readQuery(context.req.url, noQuery);
  const request = await bufferRequest(context.req.raw);
  if (await isLegacyRequest(request)) return answerLegacy(deps, userKey, request);
  // No change is ever told of, so nobody need listen: a subscription would hold the request open for nothing. And as no tool
  // sends anything before its result, every answer is one JSON body.
  const modern = createMcpHandler(() => createMemoryServer(deps, userKey), {
    legacy: 'reject',
    maxSubscriptions: 0,
    maxRequestBodySize: BODY_LIMIT_BYTES,
  });
  return modern.fetch(request);
}

/** Protocol revisions before 2026-07-28: the SDK's own fallback would answer with a stream of one event. */
async function answerLegacy(deps: McpAppDeps, userKey: string, request: Request): Promise<Response> {
  const server = createMemoryServer(deps, userKey);
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: true,
    maxRequestBodySize: BODY_LIMIT_BYTES,
  });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request);
  } finally {
    await server.close();
  }
}

/** The body is read once, within our limit, so that both generations of the protocol are refused alike. */
async function bufferRequest(request: Request): Promise<Request> {
  if (!isJsonContentType(request.headers.get('content-type'))) {
    throw new InvalidInputError('http.unsupported_media_type', 'content-type must be application/json in UTF-8', {
      details: { field: 'content-type' },
    });
  }
  const body = await readBytes(request, BODY_LIMIT_BYTES);
  return new Request(request.url, { method: 'POST', headers: request.headers, body: new Uint8Array(body) });
}
