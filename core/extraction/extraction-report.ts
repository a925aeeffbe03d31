import { addUsage, NO_USAGE, type TokenUsage } from '../agent/token-usage.ts';
import { unreachable } from '../errors.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { type Outcome, outcomeName } from './outcome.ts';

/** What one pass over one thread came to. */
export interface ExtractionReport {
  /** Whether the job was claimed: only then work was done. */
  readonly claimed: boolean;
  readonly outcome: Outcome;
  /** Summed over the calls that reported it; null when none did. */
  readonly usage: TokenUsage | null;
}

export interface ExtractionTotals {
  readonly claimed: number;
  readonly withOutput: number;
  readonly withoutOutput: number;
  readonly failed: number;
  readonly usage: TokenUsage | null;
}

/** Sums of many reports (behaviours X-02): usage is null when no job reported any. */
export function sumReports(reports: readonly ExtractionReport[]): ExtractionTotals {
  const claimed = reports.filter((report) => report.claimed);
  const count = (kind: Outcome['kind']): number => claimed.filter((report) => report.outcome.kind === kind).length;
  const usages = claimed.flatMap((report) => report.usage ?? []);
  return {
    claimed: claimed.length,
    withOutput: count('extracted'),
    withoutOutput: count('no_output'),
    failed: count('failed'),
    usage: usages.length === 0 ? null : usages.reduce(addUsage, NO_USAGE),
  };
}

/**
 * Emits one report. Names and tags are upstream's (behaviours 1.X) with `stillroom.` for `codex.memory.`; the statuses
 * `skipped` and `deferred` are ours.
 */
export function emitReport(
  telemetry: Telemetry,
  report: ExtractionReport,
  about: { threadId: string; ms: number },
): void {
  const { outcome, usage } = report;
  const tags = { memory_version: 'v1' };
  if (report.claimed) telemetry.count('stillroom.phase1', 1, { ...tags, status: 'claimed' });
  telemetry.count('stillroom.phase1', 1, { ...tags, status: statusOf(outcome) });
  if (outcome.kind === 'extracted') telemetry.count('stillroom.phase1.output', 1, tags);
  if (report.claimed) telemetry.record('stillroom.phase1.e2e_ms', about.ms, tags);
  if (usage !== null) {
    for (const [type, tokens] of Object.entries(usageByType(usage))) {
      telemetry.record('stillroom.phase1.token_usage', Math.max(0, tokens), { ...tags, token_type: type });
    }
  }
  const level = outcome.kind === 'failed' ? 'warn' : 'info';
  const detail = outcome.detail ?? null;
  telemetry.event(level, 'extraction.ended', { thread_id: about.threadId, outcome: outcomeName(outcome), detail });
}

/** How many secrets of which kind were kept from the model: the kinds and counts of one reading, never a value. */
export function emitRedactions(telemetry: Telemetry, redactions: Readonly<Record<string, number>>): void {
  for (const [kind, times] of Object.entries(redactions)) {
    telemetry.count('stillroom.redactions', times, { memory_version: 'v1', secret_kind: kind });
  }
}

function statusOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'extracted':
      return 'succeeded';
    case 'no_output':
      return 'succeeded_no_output';
    case 'failed':
    case 'skipped':
    case 'deferred':
      return outcome.kind;
    default:
      return unreachable(outcome);
  }
}

function usageByType(usage: TokenUsage): Readonly<Record<string, number>> {
  return {
    total: usage.totalTokens,
    input: usage.inputTokens,
    cached_input: usage.cachedInputTokens,
    cache_write_input: usage.cacheWriteInputTokens,
    output: usage.outputTokens,
    reasoning_output: usage.reasoningOutputTokens,
  };
}
