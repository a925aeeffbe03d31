import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIPv4 } from 'node:net';
import { DeniedError, InvalidInputError, type StillroomError } from '../core/errors.ts';

/** What the guard lets through. */
export interface GuardRules {
  /** The bearer token that every request but `GET /healthz` must carry; null: none is asked for. */
  readonly token: string | null;
  /** Largest declared body, bytes; the apps have lower limits of their own for what they read. */
  readonly maxBodyBytes: number;
}

interface RequestHead {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Decides whether a request may reach the app (api.md, "Local server"): `Host` names this machine and `Origin` is absent or
 * does too, so that a web page elsewhere cannot reach the server under a name of its own (DNS rebinding) or post to it; the
 * token matches, compared in constant time; the declared body is not over the limit.
 * @returns what is wrong, undefined when nothing is
 */
export function findRefusal(head: RequestHead, rules: GuardRules): StillroomError | undefined {
  if (!isLoopbackHost(head.headers.host)) {
    return new DeniedError('http.foreign_host', 'the Host header must name this machine, e.g. 127.0.0.1 or localhost', {
      details: { field: 'host' },
    });
  }
  if (!isLoopbackOrigin(head.headers.origin)) {
    return new DeniedError('http.foreign_origin', 'requests from pages of other origins are refused', {
      details: { field: 'origin' },
    });
  }
  if (rules.token !== null && !isHealthCheck(head) && !carriesToken(head.headers.authorization, rules.token)) {
    return new DeniedError('auth.invalid_token', 'the request must carry Authorization: Bearer with the server token');
  }
  if (Number(head.headers['content-length'] ?? 0) > rules.maxBodyBytes) {
    return new InvalidInputError('http.body_too_large', `the body must have at most ${rules.maxBodyBytes} bytes`, {
      details: { in: 'body', limit: rules.maxBodyBytes },
    });
  }
  return undefined;
}

/** True for `localhost`, 127.0.0.0/8 and `[::1]`, with or without a port. */
export function isLoopbackHost(host: string | undefined): boolean {
  const [, name = '', port = ''] = /^(.*?)(?::(\d{1,5}))?$/.exec(host?.toLowerCase() ?? '') ?? [];
  if (Number(port) > 65_535) return false;
  return name === 'localhost' || name === '[::1]' || (name.startsWith('127.') && isIPv4(name));
}

function isLoopbackOrigin(origin: string | undefined): boolean {
  if (origin === undefined) return true;
  const match = /^https?:\/\/([^/]+)$/i.exec(origin);
  return match !== null && isLoopbackHost(match[1]);
}

function isHealthCheck(head: RequestHead): boolean {
  return (head.method === 'GET' || head.method === 'HEAD') && head.url?.split('?', 1)[0] === '/healthz';
}

function carriesToken(authorization: string | undefined, token: string): boolean {
  const sent = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(sent), digest(token));
}

/** Equal lengths for the comparison, whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
