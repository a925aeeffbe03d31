import type { ModelReply, ModelRequest, RateLimit } from '../../core/ports/model-client.ts';
import type { ProviderFailure } from './provider-failure.ts';

/** Parts of a request that some models or servers refuse, and that can be left out without changing what is asked. */
export type OptionalPart = 'reasoning' | 'service_tier' | 'prompt_cache_key' | 'store' | 'max_completion_tokens';

export interface RequestOptions {
  /** Null: the provider's standard tier. */
  readonly serviceTier: string | null;
  readonly leftOut: ReadonlySet<OptionalPart>;
}

/** What a reply carries besides its text. */
export interface ReplyContext {
  readonly requestedModel: string;
  readonly rateLimits: readonly RateLimit[];
}

/** One of the two wire forms of the same conversation. Pure: bodies and replies are data. */
export interface Dialect {
  readonly path: string;
  /** Parts that may be left out when the provider refuses them. */
  readonly optional: readonly OptionalPart[];
  toBody(request: ModelRequest, options: RequestOptions): Record<string, unknown>;
  /** @param answer parsed JSON of a successful response */
  readReply(answer: unknown, context: ReplyContext): ModelReply;
}

/** Equal for all users and all requests of a purpose, so that their common prefix is found in the provider's cache. */
export function promptCacheKey(request: ModelRequest): string {
  return `stillroom-${request.purpose}`;
}

const REFUSAL_PATTERNS: Readonly<Record<OptionalPart, RegExp>> = {
  reasoning: /reasoning/i,
  service_tier: /service.?tier|\bflex\b/i,
  prompt_cache_key: /prompt_cache_key/,
  store: /\bstore\b/,
  max_completion_tokens: /max_completion_tokens/,
};
const PARAMETER_CODES = new Set(['unsupported_parameter', 'unknown_parameter', 'unsupported_value', 'invalid_value']);
const PARAMETER_MESSAGE =
  /unsupported|not supported|unrecogni[sz]ed|unknown|unexpected|extra (?:inputs|fields)|not permitted|invalid|does not support/i;
const CAPACITY = /resource.?unavailable|capacity_exceeded/i;

/**
 * Which optional part a provider refused. A refused part costs nothing: the request was turned down before any work.
 * The cheap service tier is refused also when it has no capacity for the moment.
 * @param sent the parts that were in the request
 */
export function refusedPart(
  failure: ProviderFailure,
  sent: readonly OptionalPart[],
): { readonly part: OptionalPart; readonly lasting: boolean } | undefined {
  if (sent.includes('service_tier') && [429, 498, 503].includes(failure.status)) {
    const full = CAPACITY.test(failure.code) || CAPACITY.test(failure.message) || failure.status === 498;
    if (full) return { part: 'service_tier', lasting: false };
  }
  if (![400, 403, 404, 422].includes(failure.status)) return undefined;
  const named = sent.find((part) => REFUSAL_PATTERNS[part].test(failure.param));
  if (named !== undefined) return { part: named, lasting: true };
  if (!PARAMETER_CODES.has(failure.code) && !PARAMETER_MESSAGE.test(failure.message)) return undefined;
  const mentioned = sent.find((part) => REFUSAL_PATTERNS[part].test(failure.message));
  return mentioned === undefined ? undefined : { part: mentioned, lasting: true };
}
