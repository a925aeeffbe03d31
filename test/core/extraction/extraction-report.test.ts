import { describe, expect, it } from 'vitest';
import type { TokenUsage } from '../../../core/agent/token-usage.ts';
import { type ExtractionReport, emitReport, sumReports } from '../../../core/extraction/extraction-report.ts';
import type { TelemetryFields } from '../../../core/ports/telemetry.ts';

/** Input, cached, output, reasoning, total, as the case lists them. */
function usage(input: number, cached: number, output: number, reasoning: number, total: number): TokenUsage {
  return {
    inputTokens: input,
    cachedInputTokens: cached,
    cacheWriteInputTokens: 0,
    outputTokens: output,
    reasoningOutputTokens: reasoning,
    totalTokens: total,
  };
}

const FAILED: ExtractionReport = {
  claimed: true,
  outcome: { kind: 'failed', reason: 'model_invalid' },
  usage: null,
};

describe('sumReports', () => {
  it('TC-096 sums usage and counts the claimed by how they ended', () => {
    const reports: ExtractionReport[] = [
      { claimed: true, outcome: { kind: 'extracted' }, usage: usage(10, 2, 3, 1, 13) },
      { claimed: true, outcome: { kind: 'no_output' }, usage: usage(7, 1, 2, 0, 9) },
      FAILED,
      { claimed: false, outcome: { kind: 'failed', reason: 'exhausted' }, usage: null },
      { claimed: false, outcome: { kind: 'skipped', reason: 'disabled' }, usage: null },
    ];
    expect(sumReports(reports)).toEqual({
      claimed: 3,
      withOutput: 1,
      withoutOutput: 1,
      failed: 1,
      usage: usage(17, 3, 5, 1, 22),
    });
  });

  it('TC-096 reports no usage when no job did', () => {
    expect(sumReports([FAILED]).usage).toBeNull();
  });
});

describe('emitReport', () => {
  function emitted(report: ExtractionReport): unknown[][] {
    const calls: unknown[][] = [];
    const note = (kind: string) => (name: string, value: number, tags?: TelemetryFields) => {
      calls.push([kind, name, value, tags?.['status'] ?? tags?.['token_type'] ?? null]);
    };
    emitReport({ count: note('count'), record: note('record'), event: () => {} }, report, { threadId: 't', ms: 5 });
    return calls;
  }

  it('emits status, output, time and tokens by type', () => {
    const report = { claimed: true, outcome: { kind: 'extracted' as const }, usage: usage(10, -2, 3, 1, 13) };
    expect(emitted(report)).toEqual([
      ['count', 'stillroom.phase1', 1, 'claimed'],
      ['count', 'stillroom.phase1', 1, 'succeeded'],
      ['count', 'stillroom.phase1.output', 1, null],
      ['record', 'stillroom.phase1.e2e_ms', 5, null],
      ['record', 'stillroom.phase1.token_usage', 13, 'total'],
      ['record', 'stillroom.phase1.token_usage', 10, 'input'],
      ['record', 'stillroom.phase1.token_usage', 0, 'cached_input'],
      ['record', 'stillroom.phase1.token_usage', 0, 'cache_write_input'],
      ['record', 'stillroom.phase1.token_usage', 3, 'output'],
      ['record', 'stillroom.phase1.token_usage', 1, 'reasoning_output'],
    ]);
  });

  it('emits no tokens where none were reported, and no time where nothing was claimed', () => {
    const report = { claimed: false, outcome: { kind: 'skipped' as const, reason: 'disabled' as const }, usage: null };
    expect(emitted(report)).toEqual([['count', 'stillroom.phase1', 1, 'skipped']]);
  });
});
