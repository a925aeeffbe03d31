import type { ConsolidationResult } from '../../core/consolidation/consolidation-ports.ts';

/** How an execution ended, as its history keeps it: names, codes and numbers, no content. */
export interface Phase2Answer {
  readonly result: ConsolidationResult['kind'];
  readonly code?: string;
  readonly version?: number;
  readonly turns?: number;
  readonly tokens?: number;
}

/** What the agent reported is content, and left out. */
export function toAnswer(result: ConsolidationResult): Phase2Answer {
  switch (result.kind) {
    case 'published':
    case 'unchanged': {
      const { kind, version, turns, usage } = result;
      return { result: kind, version, turns, tokens: usage.totalTokens };
    }
    case 'nothing':
      return { result: 'nothing' };
    case 'refused':
      return { result: 'refused', code: result.reason };
    case 'failed':
      return { result: 'failed', code: result.code, turns: result.turns, tokens: result.usage.totalTokens };
  }
}
