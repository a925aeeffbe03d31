import * as z from 'zod/mini';
import { DefectError } from '../../core/errors.ts';

/** The parts of an API Gateway HTTP API event (payload format 2.0) that a request is made of. */
const gatewayEvent = z.object({
  version: z.literal('2.0'),
  rawPath: z.string(),
  rawQueryString: z.optional(z.string()),
  headers: z.optional(z.record(z.string(), z.string())),
  body: z.optional(z.string()),
  isBase64Encoded: z.optional(z.boolean()),
  requestContext: z.object({ stage: z.string(), http: z.object({ method: z.string() }) }),
});

type GatewayEvent = z.output<typeof gatewayEvent>;

const DEFAULT_STAGE = '$default';
/** Requests are routed by path alone; the name of the host never matters to an app. */
const ORIGIN = 'https://stillroom.invalid';

/**
 * The request that an event tells of.
 *
 * API Gateway decodes the path before it hands it over, so it is encoded again, all of it: what an app decodes is then what
 * the client meant, once (user case C1). Steps such as `..` are kept from being resolved by the URL parser, since the path
 * that was authorised must be the path that is served.
 * @throws DefectError `http.unreadable_event` for anything else: the function is wired to a wrong source
 */
export function toRequest(event: unknown): Request {
  const parsed = z.safeParse(gatewayEvent, event);
  if (!parsed.success) throw new DefectError('http.unreadable_event', 'the event is not of an HTTP API, format 2.0');
  const { data } = parsed;
  const { method } = data.requestContext.http;
  const query = data.rawQueryString ? `?${data.rawQueryString}` : '';
  const body = method === 'GET' || method === 'HEAD' ? undefined : readBody(data);
  return new Request(`${ORIGIN}${toUrlPath(withoutStage(data))}${query}`, {
    method,
    headers: readHeaders(data, body),
    ...(body === undefined ? {} : { body }),
  });
}

/** A stage that is not the default one stands before the path. */
function withoutStage(event: GatewayEvent): string {
  const prefix = `/${event.requestContext.stage}`;
  const { rawPath } = event;
  const isPrefixed = event.requestContext.stage !== DEFAULT_STAGE && `${rawPath}/`.startsWith(`${prefix}/`);
  return isPrefixed ? rawPath.slice(prefix.length) || '/' : rawPath;
}

/** Encodes each step; a step that a URL parser would resolve is glued to its neighbour. */
function toUrlPath(path: string): string {
  const steps = path.toWellFormed().split('/');
  const last = steps.length - 1;
  return steps.reduce((url, step, at) => {
    if (at === 0) return url;
    const glued = isDots(steps[at - 1]) || (at === last && isDots(step));
    return `${url}${glued ? '%2F' : '/'}${encodeURIComponent(step)}`;
  }, '');
}

function isDots(step: string | undefined): boolean {
  return step === '.' || step === '..' || /^(\.|%2e){1,2}$/i.test(step ?? '');
}

function readBody(event: GatewayEvent): Uint8Array<ArrayBuffer> | undefined {
  if (event.body === undefined || event.body === '') return undefined;
  return new Uint8Array(Buffer.from(event.body, event.isBase64Encoded === true ? 'base64' : 'utf8'));
}

/**
 * Headers that fetch's rules do not allow (other than Latin-1) are left out: no route reads one, and identity is taken from
 * the event itself. The length is that of the decoded body.
 */
function readHeaders(event: GatewayEvent, body: Uint8Array | undefined): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(event.headers ?? {})) {
    if (/^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) headers.set(name, value);
  }
  headers.delete('content-length');
  if (body !== undefined) headers.set('content-length', String(body.byteLength));
  return headers;
}
