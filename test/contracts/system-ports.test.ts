import { afterEach, describe, expect, it, vi } from 'vitest';
import { RandomTokenSource } from '../../adapters/system/random-token-source.ts';
import { SystemClock } from '../../adapters/system/system-clock.ts';
import { ConsoleTelemetry } from '../../adapters/telemetry/console-telemetry.ts';
import { PowertoolsTelemetry } from '../../adapters/telemetry/powertools-telemetry.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { TokenSource } from '../../core/ports/token-source.ts';
import { FixedClock } from '../doubles/fixed-clock.ts';
import { NumberedTokens } from '../doubles/numbered-tokens.ts';
import { RecordingTelemetry } from '../doubles/recording-telemetry.ts';
import { captureOutput } from '../support/capture-output.ts';
import { NOW } from '../support/sample-state.ts';

describe.each<[string, Clock]>([
  ['the system', new SystemClock()],
  ['fixed', new FixedClock(NOW)],
])('clock: %s', (_name, clock) => {
  it('tells whole milliseconds of this age', () => {
    expect(Number.isSafeInteger(clock.now())).toBe(true);
    expect(clock.now()).toBeGreaterThan(Date.UTC(2025, 0));
  });
});

describe.each<[string, TokenSource]>([
  ['random', new RandomTokenSource()],
  ['numbered', new NumberedTokens()],
])('token source: %s', (_name, tokens) => {
  it('gives version 4 UUIDs, none twice', () => {
    const given = Array.from({ length: 500 }, () => tokens.next());
    expect(new Set(given).size).toBe(500);
    for (const token of given)
      expect(token).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

describe.each<[string, Telemetry]>([
  ['console', new ConsoleTelemetry('debug', () => {})],
  ['console on a closed pipe', new ConsoleTelemetry('debug', failToWrite)],
  ['Powertools', new PowertoolsTelemetry({ functionName: 'phase1', stage: 'test' })],
  ['recording', new RecordingTelemetry()],
])('telemetry: %s', (_name, telemetry) => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('never throws', () => {
    captureOutput();
    expect(() => {
      telemetry.count('a', 1);
      telemetry.record('b_ms', Number.NaN, { tag: null });
      telemetry.event('error', 'c', { code: 'x.y' });
    }).not.toThrow();
  });
});

function failToWrite(): void {
  throw new Error('closed pipe');
}
