import { describe, expect, it } from 'vitest';
import { findPollution, findTooShort } from '../../../core/extraction/session-checks.ts';
import type { RolloutFacts } from '../../../core/rollout/rollout.ts';
import { DEFAULT_SETTINGS } from '../../../core/settings.ts';
import { makeFacts } from './sample-session.ts';

describe('findTooShort', () => {
  it.each<[string, Partial<RolloutFacts>, boolean]>([
    ['no message of a person', { humanMessages: 0, toolCalls: 9, conversationBytes: 9_000 }, true],
    ['a greeting', { humanMessages: 1, toolCalls: 0, conversationBytes: 40 }, true],
    ['one exchange just below the limit', { humanMessages: 1, toolCalls: 0, conversationBytes: 99 }, true],
    ['one exchange at the limit', { humanMessages: 1, toolCalls: 0, conversationBytes: 100 }, false],
    ['one short message that led to a tool call', { humanMessages: 1, toolCalls: 1, conversationBytes: 10 }, false],
    ['two short messages', { humanMessages: 2, toolCalls: 0, conversationBytes: 10 }, true],
    ['several messages that say something', { humanMessages: 3, toolCalls: 0, conversationBytes: 400 }, false],
  ])('%s', (_case, facts, short) => {
    expect(findTooShort(makeFacts(facts)) !== undefined).toBe(short);
  });
});

describe('findPollution', () => {
  const none = { webSearch: false, toolSearch: false, mcpServers: [] };
  const strict = { ...DEFAULT_SETTINGS, disableOnExternalContext: true, allowedMcpServers: ['docs'] };

  it('is off by default', () => {
    expect(findPollution({ webSearch: true, toolSearch: true, mcpServers: ['x'] }, DEFAULT_SETTINGS)).toBeUndefined();
  });

  it.each([
    ['nothing outside', none, false],
    ['a web search', { ...none, webSearch: true }, true],
    ['a tool search', { ...none, toolSearch: true }, true],
    ['an allowed server', { ...none, mcpServers: ['docs'] }, false],
    ['another server beside it', { ...none, mcpServers: ['docs', 'mail'] }, true],
  ])('with the setting on: %s', (_case, context, polluted) => {
    expect(findPollution(context, strict) !== undefined).toBe(polluted);
  });
});
