import { DefectError, StillroomError, unreachable } from '../../core/errors.ts';

/**
 * Problem details (RFC 9457): what a failed request is answered with. `type` stays `about:blank`, so `title` is the phrase
 * of the status; clients match on `code`. The error's safe details are extension members.
 */
export interface Problem {
  readonly type: 'about:blank';
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly [member: string]: string | number | boolean | null;
}

/** Facts of the request that decide between statuses. */
export interface RequestFacts {
  /** True when the request carries `If-Match` or `If-Unmodified-Since`: a conflict is then a failed precondition. */
  readonly precondition: boolean;
}

export interface ProblemAnswer {
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;
}

const PHRASES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  428: 'Precondition Required',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/** Codes for which HTTP has a status of its own; all others follow their class. */
const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  'http.method_not_allowed': 405,
  'http.body_too_large': 413,
  'http.headers_too_large': 431,
  'http.receive_timed_out': 408,
  'rollout.body_too_large': 413,
  'rollout.too_large': 413,
  'http.unsupported_media_type': 415,
  'http.precondition_required': 428,
  'memory.version_expired': 410,
  'memory.version_withheld': 410,
  'replay.expired': 410,
  'replay.forgotten': 410,
};

const RESERVED = new Set(['type', 'title', 'status', 'code', 'detail', 'instance']);
const DEFAULT_RETRY_AFTER_S = 5;

/**
 * The status of a failure (architecture.md, "Errors"; total over the six classes). Denied: 401 for the codes `auth.*`, where
 * it is not known who asks, else 403. Unavailable: 429 for the codes `quota.*`, else 503.
 */
export function statusOf(error: StillroomError, facts: RequestFacts): number {
  const own = STATUS_BY_CODE[error.code];
  if (own !== undefined) return own;
  switch (error.kind) {
    case 'invalid_input':
      return 400;
    case 'denied':
      return error.code.startsWith('auth.') ? 401 : 403;
    case 'not_found':
      return 404;
    case 'conflict':
      return facts.precondition ? 412 : 409;
    case 'unavailable':
      return error.code.startsWith('quota.') ? 429 : 503;
    case 'defect':
      return 500;
    default:
      return unreachable(error.kind);
  }
}

/**
 * The answer to a failure. A defect, and whatever is thrown that is none of our classes, shows neither message nor details:
 * only `instance`, under which the log line is found.
 * @param instance a URN that names this occurrence
 */
export function problemOf(thrown: unknown, facts: RequestFacts, instance: string): ProblemAnswer {
  const error = asStillroomError(thrown);
  const status = statusOf(error, facts);
  const head = { type: 'about:blank', title: PHRASES[status] ?? 'Error', status } as const;
  if (status >= 500 && error.kind === 'defect') {
    const detail = 'The request failed for a reason on our side. It may succeed later.';
    return { problem: { ...head, code: 'internal', detail, instance }, headers: {} };
  }
  const extra = Object.entries(error.details).filter(([name]) => !RESERVED.has(name));
  const problem: Problem = { ...Object.fromEntries(extra), ...head, code: error.code, detail: error.message };
  return { problem, headers: headersOf(error, status) };
}

/** Anything thrown, as one of our classes; what is none of them is a defect, and its message stays in `cause`. */
export function asStillroomError(thrown: unknown): StillroomError {
  if (thrown instanceof StillroomError) return thrown;
  return new DefectError('http.unexpected', 'an unexpected error reached the edge', { cause: thrown });
}

/** The response of a problem, `application/problem+json`, never cached. */
export function toResponse(answer: ProblemAnswer): Response {
  return new Response(JSON.stringify(answer.problem), {
    status: answer.problem.status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', ...answer.headers },
  });
}

function headersOf(error: StillroomError, status: number): Record<string, string> {
  const { allow, retry_after_ms: waitMs } = error.details;
  if (status === 401) return { 'www-authenticate': 'Bearer' };
  if (status === 405) return { allow: String(allow) };
  if (error.kind !== 'unavailable') return {};
  const seconds = typeof waitMs === 'number' ? Math.max(1, Math.ceil(waitMs / 1_000)) : DEFAULT_RETRY_AFTER_S;
  return { 'retry-after': String(seconds) };
}
