import type { ExternalContext, RolloutFacts } from '../rollout/rollout.ts';
import { LIMITS, type Settings } from '../settings.ts';

/**
 * Why a session is too short to learn from (user case D23), or undefined. A tool call is work, so one is enough. A sub-agent
 * works for another agent: nobody speaks in it.
 * @returns a content-free detail with the numbers and the limit
 */
export function findTooShort(facts: RolloutFacts): string | undefined {
  const { humanMessages, toolCalls, conversationBytes: bytes } = facts;
  if (humanMessages === 0 && !facts.subagent) return 'no message of a person';
  if (toolCalls > 0 || bytes >= LIMITS.shortExchangeBytes) return undefined;
  return `${bytes} bytes of conversation without tool calls, at least ${LIMITS.shortExchangeBytes} wanted`;
}

/**
 * What brought outside content into a session whose user wants none in the memory (behaviours; DV-15), or
 * undefined. Servers that the settings name do not count.
 */
export function findPollution(context: ExternalContext, settings: Settings): string | undefined {
  if (!settings.disableOnExternalContext) return undefined;
  if (context.webSearch) return 'web search';
  if (context.toolSearch) return 'tool search';
  const foreign = context.mcpServers.filter((server) => !settings.allowedMcpServers.includes(server)).length;
  return foreign === 0 ? undefined : `${foreign} MCP servers that are not allowed`;
}
