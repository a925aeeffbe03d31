import * as z from 'zod/mini';
import { createGatewayHandler } from '../../functions/http/gateway-handler.ts';
import { problemAnswer } from '../../functions/http/schema-problem.ts';
import { NumberedTokens } from '../doubles/numbered-tokens.ts';
import { type Caller, type GatewayAsk, gatewayEvent, tokenOf } from './gateway-event.ts';

/** What answers of a route look like: method, path, status, schema of the body. */
export type AnswerShape = readonly [method: string, path: RegExp, status: number, schema: z.ZodMiniType];

export interface GatewayReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Undefined where the body is no JSON. */
  readonly json: unknown;
}

export interface ClientAsk extends Omit<GatewayAsk, 'path' | 'body'> {
  /** Sent as JSON, unless `raw` is given. */
  readonly body?: unknown;
  readonly raw?: string | Uint8Array;
}

type App = Parameters<typeof createGatewayHandler>[0]['app'];

/**
 * Asks an app through events of API Gateway, as `user-1` unless told otherwise. Every answer is checked against the schema of its route and
 * status; a failure without one of its own must be a problem.
 */
export function gatewayClient(app: App, shapes: readonly AnswerShape[]) {
  const handle = createGatewayHandler({ app, tokens: new NumberedTokens(), correlate: () => {}, flush: () => {} });
  const ask = async (path: string, request: ClientAsk = {}): Promise<GatewayReply> => {
    const { body, raw, caller = tokenOf('user-1'), ...rest } = request;
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const headers = { ...json, ...request.headers };
    const event = gatewayEvent({ ...rest, path, headers, caller, ...(sent === undefined ? {} : { body: sent }) });
    const answer = await handle(event);
    const text = Buffer.from(answer.body, answer.isBase64Encoded ? 'base64' : 'utf8').toString('utf8');
    const isJson = (answer.headers['content-type'] ?? '').includes('json') && request.method !== 'HEAD';
    const reply = {
      status: answer.statusCode,
      headers: answer.headers,
      text,
      json: isJson ? (JSON.parse(text) as unknown) : undefined,
    };
    checkReply(request.method ?? 'GET', path, reply, shapes);
    return reply;
  };
  return { ask, as: (userId: string): Caller => tokenOf(userId) };
}

function checkReply(method: string, path: string, reply: GatewayReply, shapes: readonly AnswerShape[]): void {
  const [pathname = ''] = path.split('?');
  const shape = shapes.find(
    ([verb, pattern, status]) => verb === method && pattern.test(pathname) && status === reply.status,
  );
  if (reply.status >= 400 && shape === undefined) {
    if (reply.headers['content-type'] !== 'application/problem+json') throw new Error('a failure is no problem');
    if (z.parse(problemAnswer, reply.json).status !== reply.status) throw new Error('the problem tells another status');
    return;
  }
  if (reply.json === undefined) return;
  if (shape === undefined) throw new Error(`no schema for ${method} ${pathname} answered ${reply.status}`);
  z.parse(shape[3], reply.json);
}
