import { unreachable } from '../errors.ts';
import type { ModelReply } from '../ports/model-client.ts';
import { NO_USAGE, type TokenUsage } from './token-usage.ts';

/** Codes of an `unavailable` behind which the provider may have worked: an answer that never came, or that nobody could read. */
const WORKED: ReadonlySet<string> = new Set([
  'timeout',
  'connection_lost',
  'http_504',
  'http_524', // a proxy that waited too long
  'response_not_understood',
  'response_too_large',
  'response_unfinished',
]);

/**
 * What a call is settled with in the ledger. Null, that is the whole reservation, where the provider may have worked and did
 * not say how much.
 */
export function paidUsage(reply: ModelReply): TokenUsage | null {
  switch (reply.kind) {
    case 'reply':
    case 'refused':
    case 'incomplete':
      return reply.usage;
    case 'unavailable':
      return WORKED.has(reply.code) ? null : NO_USAGE;
    case 'too_long':
    case 'rate_limited':
    case 'misconfigured':
      return NO_USAGE;
    default:
      return unreachable(reply);
  }
}
