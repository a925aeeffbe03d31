import { isUtf8 } from 'node:buffer';
import { InvalidInputError } from '../../core/errors.ts';
import type { TokenSource } from '../../core/ports/token-source.ts';
import { toRequest } from './gateway-event.ts';
import { problemOf, toResponse } from './problem.ts';

/** What Lambda hands back to API Gateway (payload format 2.0). */
export interface GatewayAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

export interface GatewayHandlerOptions {
  /** The event goes along as `env`: an app's `identify` reads from it what API Gateway verified. */
  readonly app: { fetch(request: Request, env: Record<string, unknown>): Response | Promise<Response> };
  readonly tokens: TokenSource;
  /** Told the id of each invocation before its work: every log line then carries it. */
  readonly correlate: (ids: { readonly request_id: string | null }) => void;
  /** Called after each request, whatever its end: sends the metrics of the invocation on their way. */
  readonly flush: () => void;
}

/** What Lambda tells about an invocation, as far as it matters here. */
export interface Invocation {
  readonly awsRequestId: string;
}

/**
 * Lambda refuses answers over 6 MB and API Gateway turns that into a bare 502 (user case C16). Headers and the envelope
 * around the body take a little of it.
 */
const ANSWER_LIMIT_BYTES = 6 * 1_048_576 - 65_536;
/** As text a byte takes up to six (`\u0000`), as base64 always four thirds: above this it is base64. */
const TEXT_LIMIT_BYTES = 524_288;

/**
 * The Lambda handler of an app behind an API Gateway HTTP API. Bytes and long texts travel as base64, which API Gateway takes
 * off again. An answer that could not travel at all becomes a problem that says what to do.
 * @throws DefectError `http.unreadable_event`; everything else is answered
 */
export function createGatewayHandler(
  options: GatewayHandlerOptions,
): (event: unknown, invocation?: Invocation) => Promise<GatewayAnswer> {
  return async (event, invocation) => {
    options.correlate({ request_id: invocation?.awsRequestId ?? null });
    try {
      const response = await options.app.fetch(toRequest(event), { event });
      const answer = await encode(response);
      if (answer.body.length <= ANSWER_LIMIT_BYTES) return answer;
      const instance = `urn:uuid:${options.tokens.next()}`;
      return await encode(toResponse(problemOf(tooLarge(), { precondition: false }, instance)));
    } finally {
      options.flush();
    }
  };
}

async function encode(response: Response): Promise<GatewayAnswer> {
  const bytes = Buffer.from(await response.arrayBuffer());
  const isText = bytes.length <= TEXT_LIMIT_BYTES && isTextual(response.headers.get('content-type')) && isUtf8(bytes);
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: bytes.toString(isText ? 'utf8' : 'base64'),
    isBase64Encoded: !isText,
  };
}

function isTextual(contentType: string | null): boolean {
  return contentType === null || /^(text\/|application\/([\w.-]+\+)?json\b)/.test(contentType);
}

function tooLarge(): InvalidInputError {
  return new InvalidInputError(
    'http.answer_too_large',
    'the answer would be larger than can be sent; ask for less at once (max_results, context_lines, max_lines)',
    { details: { limit: ANSWER_LIMIT_BYTES } },
  );
}
