import type { RolloutFacts } from '../../../core/rollout/rollout.ts';
import type { Thread } from '../../../core/thread/thread.ts';
import { DAY_MS } from '../../../core/time.ts';

export const THREAD_ID = '019c22a4-5c70-7a11-9b7e-3f0d5a6b7c81';
/** The clock of these tests. */
export const NOW = Date.parse('2026-03-03T12:00:00Z');

/** A thread that is eligible at `NOW`. */
export function makeThread(more: Partial<Thread> = {}): Thread {
  return {
    threadId: THREAD_ID,
    memoryMode: 'enabled',
    source: 'cli',
    subagent: false,
    ephemeral: false,
    parentThreadId: null,
    agentKind: 'codex',
    cwd: '/home/dev/shop',
    repository: 'https://git.example.org/dev/shop.git',
    project: 'git.example.org/dev/shop',
    gitBranch: 'main',
    title: 'fix the test',
    createdAt: NOW - 2 * DAY_MS,
    updatedAt: NOW - DAY_MS,
    ended: false,
    forgottenAt: null,
    requestedAt: null,
    reading: { broken: 0, oversized: 0, tornTail: false, redactions: {} },
    rollout: {
      sha256: '0'.repeat(64),
      bytes: 1,
      uploadedAt: NOW - DAY_MS,
      path: '/home/dev/rollout-1.jsonl',
      order: null,
    },
    ...more,
  };
}

export function makeFacts(more: Partial<RolloutFacts> = {}): RolloutFacts {
  return {
    agentKind: 'codex',
    formatVersion: '0.90.0',
    threadId: THREAD_ID,
    source: 'cli',
    subagent: false,
    ephemeral: false,
    parentThreadId: null,
    memoryMode: null,
    cwd: '/home/dev/shop',
    repository: null,
    gitBranch: 'main',
    title: 'fix the test',
    firstAt: NOW - 2 * DAY_MS,
    lastAt: NOW - DAY_MS,
    humanMessages: 2,
    assistantMessages: 2,
    toolCalls: 3,
    conversationBytes: 900,
    externalContext: { webSearch: false, toolSearch: false, mcpServers: [] },
    ...more,
  };
}
