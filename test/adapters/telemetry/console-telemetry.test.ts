import { describe, expect, it } from 'vitest';
import { ConsoleTelemetry, type TelemetryLevel } from '../../../adapters/telemetry/console-telemetry.ts';

function speak(level: TelemetryLevel): unknown[] {
  const lines: string[] = [];
  const telemetry = new ConsoleTelemetry(level, (line) => lines.push(line));
  telemetry.count('memory.phase1', 2, { status: 'claimed' });
  telemetry.record('memory.phase1.e2e_ms', 12);
  telemetry.event('info', 'run.started');
  telemetry.event('error', 'run.failed', { code: 'a.b', text: 'line\nbreak' });
  for (const line of lines) expect(line).toMatch(/^[^\n]+\n$/);
  return lines.map((line): unknown => JSON.parse(line));
}

describe('console telemetry', () => {
  it('writes one JSON line for each thing at level debug', () => {
    expect(speak('debug')).toEqual([
      { level: 'debug', metric: 'memory.phase1', count: 2, status: 'claimed' },
      { level: 'debug', metric: 'memory.phase1.e2e_ms', value: 12 },
      { level: 'info', event: 'run.started' },
      { level: 'error', event: 'run.failed', code: 'a.b', text: 'line\nbreak' },
    ]);
  });

  it('leaves out what is below its level', () => {
    expect(speak('info')).toHaveLength(2);
    expect(speak('warn')).toEqual([expect.objectContaining({ level: 'error' })]);
  });

  it('never throws, also when the line cannot be written', () => {
    const telemetry = new ConsoleTelemetry('debug', () => {
      throw new Error('closed pipe');
    });
    expect(() => telemetry.event('error', 'x')).not.toThrow();
  });
});
