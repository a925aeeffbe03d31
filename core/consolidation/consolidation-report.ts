import type { TokenUsage } from '../agent/token-usage.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { ConsolidationResult } from './consolidation-ports.ts';

const TAGS = { memory_version: 'v1' };

/**
 * Counts one run. Names and tags are upstream's (behaviours 1.X) with `stillroom.` for `codex.memory.`; a failure's status is
 * `failed` and its code is a tag of its own.
 * @param ms how long the run took
 */
export function emitConsolidation(telemetry: Telemetry, result: ConsolidationResult, ms: number): void {
  if (result.kind !== 'refused') {
    telemetry.count('stillroom.phase2', 1, { ...TAGS, status: 'claimed' });
    telemetry.record('stillroom.phase2.e2e_ms', ms, TAGS);
  }
  telemetry.count('stillroom.phase2', 1, { ...TAGS, ...statusOf(result) });
  if ('usage' in result && result.turns > 0) emitUsage(telemetry, result.usage);
  if (result.kind !== 'published') {
    const code = result.kind === 'failed' ? result.code : null;
    telemetry.event(levelOf(code), 'consolidation.ended', { result: result.kind, code });
    return;
  }
  const inputs = result.added.length + result.retained.length;
  if (inputs > 0) telemetry.count('stillroom.phase2.input', inputs, TAGS);
  telemetry.event('info', 'consolidation.ended', {
    result: result.kind,
    version: result.version,
    added: result.added.length,
    removed: result.removed.length,
    turns: result.turns,
  });
}

/** A memory that was about to be lost is an alarm (DV-19). */
function levelOf(code: string | null): 'info' | 'warn' | 'error' {
  if (code === null) return 'info';
  return code === 'artifacts.shrunk' ? 'error' : 'warn';
}

function statusOf(result: ConsolidationResult): { readonly status: string; readonly code?: string } {
  switch (result.kind) {
    case 'published':
      return { status: 'succeeded' };
    case 'unchanged':
    case 'nothing':
      return { status: 'succeeded_no_workspace_changes' };
    case 'refused':
      return { status: `skipped_${result.reason === 'retry_backoff' ? 'retry_unavailable' : result.reason}` };
    case 'failed':
      return { status: 'failed', code: result.code };
  }
}

function emitUsage(telemetry: Telemetry, usage: TokenUsage): void {
  const types = {
    total: usage.totalTokens,
    input: usage.inputTokens,
    cached_input: usage.cachedInputTokens,
    cache_write_input: usage.cacheWriteInputTokens,
    output: usage.outputTokens,
    reasoning_output: usage.reasoningOutputTokens,
  };
  for (const [type, tokens] of Object.entries(types))
    telemetry.record('stillroom.phase2.token_usage', Math.max(0, tokens), { ...TAGS, token_type: type });
}
