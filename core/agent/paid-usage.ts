import { unreachable } from '../errors.ts';
import type { ModelReply } from '../ports/model-client.ts';
import { NO_USAGE, type TokenUsage } from './token-usage.ts';

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
      return reply.code === 'timeout' || reply.code === 'connection_lost' ? null : NO_USAGE;
    case 'too_long':
    case 'rate_limited':
    case 'misconfigured':
      return NO_USAGE;
    default:
      return unreachable(reply);
  }
}
