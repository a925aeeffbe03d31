import { APIError } from 'openai';
import type { ModelReply } from '../../core/ports/model-client.ts';
import { retryAfterMs } from './rate-limit-headers.ts';
import { ANSWER_TOO_LARGE } from './read-answer.ts';

/** What a provider said when it refused a request. `message` may quote the request: it is matched, never passed on. */
export interface ProviderFailure {
  readonly status: number;
  readonly code: string;
  readonly param: string;
  readonly message: string;
  readonly headers: Headers;
}

const TOO_LONG_CODES = new Set(['context_length_exceeded', 'string_above_max_length', 'request_too_large']);
const TOO_LONG_MESSAGE =
  /context (?:length|window|limit|size)|maximum context|prompt is too long|input is too long|request too large|too many (?:input )?tokens/i;
const POLICY_CODES = new Set(['invalid_prompt', 'bio_policy', 'cyber_policy', 'misalignment_policy_violation']);
const FILTER_CODES = new Set(['content_filter', 'content_policy_violation', 'ResponsibleAIPolicyViolation']);
const QUOTA_CODES = new Set(['insufficient_quota', 'billing_hard_limit_reached', 'billing_not_active']);
/** What providers answer with a 401; `http_401` stands for all their other words. */
const KEY_CODES = new Set(['invalid_api_key', 'authentication_error', 'http_401']);
/** The words, for want of a code, of a port that fetch never opens, such as that of mail. */
const BAD_PORT = 'bad port';
/** A key with characters that no header can carry. */
export const BAD_KEY = 'bad_api_key';
const UNREACHABLE_CODES =
  /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EHOSTDOWN|EADDRNOTAVAIL|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$/;
const SAFE_CODE = /^[a-z0-9_.-]{1,64}$/i;

/** Reads the SDK's error for a refused request. @returns undefined when the provider never answered */
export function providerFailure(error: unknown): ProviderFailure | undefined {
  if (!(error instanceof APIError) || typeof error.status !== 'number') return undefined;
  return {
    status: error.status,
    code: String(error.code ?? error.type ?? ''), // some servers send numbers
    param: String(error.param ?? ''),
    message: error.message,
    headers: error.headers ?? new Headers(),
  };
}

/** The reply for a request that a provider refused: each kind has its own outcome. A quota that is used up needs a person. */
export function replyForFailure(failure: ProviderFailure, now: number): ModelReply {
  const { status, code } = failure;
  if (isTooLong(failure)) return { kind: 'too_long' };
  if (QUOTA_CODES.has(code)) return { kind: 'misconfigured', code };
  if (POLICY_CODES.has(code)) return { kind: 'refused', usage: null };
  if (FILTER_CODES.has(code)) return { kind: 'incomplete', reason: 'filter', usage: null };
  if (status === 429 || status === 498)
    return { kind: 'rate_limited', retryAfterMs: retryAfterMs(failure.headers, now) };
  if (status === 401) return { kind: 'misconfigured', code: KEY_CODES.has(code) ? code : 'http_401' };
  if (status === 408 || status === 409 || status >= 500) return { kind: 'unavailable', code: `http_${status}` };
  return { kind: 'misconfigured', code: SAFE_CODE.test(code) ? code : `http_${status}` };
}

/** Whether the API key itself was turned down, by the provider or because it cannot be sent. */
export function isKeyRefusal(reply: ModelReply): boolean {
  return reply.kind === 'misconfigured' && (KEY_CODES.has(reply.code) || reply.code === BAD_KEY);
}

/** The reply for an error inside a response that began well (`status: "failed"`). */
export function replyForErrorCode(code: string): ModelReply {
  if (TOO_LONG_CODES.has(code)) return { kind: 'too_long' };
  if (code === 'rate_limit_exceeded') return { kind: 'rate_limited', retryAfterMs: null };
  if (POLICY_CODES.has(code)) return { kind: 'refused', usage: null };
  if (FILTER_CODES.has(code)) return { kind: 'incomplete', reason: 'filter', usage: null };
  return { kind: 'unavailable', code: SAFE_CODE.test(code) ? code : 'response_failed' };
}

/**
 * The reply for a request that got no answer, or none that could be read to its end. `timeout`, `connection_lost` and
 * `response_too_large` may have been paid for; with all others no request left.
 */
export function replyForSilence(error: unknown, timedOut: boolean): ModelReply {
  if (timedOut) return { kind: 'unavailable', code: 'timeout' };
  const codes = causes(error);
  const has = (pattern: RegExp): boolean => codes.some((code) => pattern.test(code));
  if (codes.includes(ANSWER_TOO_LARGE)) return { kind: 'unavailable', code: 'response_too_large' };
  if (has(/^ERR_INVALID_URL$/) || codes.includes(BAD_PORT)) return { kind: 'misconfigured', code: 'bad_url' };
  if (has(/^ENOTFOUND$/)) return { kind: 'misconfigured', code: 'host_not_found' };
  if (has(/CERT|^ERR_TLS|^ERR_SSL|SIGNATURE|SELF_SIGNED/)) return { kind: 'misconfigured', code: 'tls' };
  if (has(UNREACHABLE_CODES)) {
    return { kind: 'unavailable', code: codes.includes('ECONNREFUSED') ? 'connection_refused' : 'unreachable' };
  }
  if (has(/TIMEOUT|ETIMEDOUT/)) return { kind: 'unavailable', code: 'timeout' };
  return { kind: 'unavailable', code: 'connection_lost' };
}

function isTooLong(failure: ProviderFailure): boolean {
  if (TOO_LONG_CODES.has(failure.code) || failure.status === 413) return true;
  return [400, 422, 429].includes(failure.status) && TOO_LONG_MESSAGE.test(failure.message);
}

/** Codes of an error and of what caused it; several addresses of one host fail as an aggregate. */
function causes(error: unknown, depth = 0): string[] {
  if (typeof error !== 'object' || error === null || depth > 5) return [];
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : [];
  if (error instanceof Error && error.message === BAD_PORT) own.push(BAD_PORT);
  const inner = 'cause' in error ? causes(error.cause, depth + 1) : [];
  const several = error instanceof AggregateError ? error.errors.flatMap((each) => causes(each, depth + 1)) : [];
  return [...own, ...inner, ...several];
}
