import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PowertoolsTelemetry } from '../../../adapters/telemetry/powertools-telemetry.ts';
import { type CapturedOutput, captureOutput } from '../../support/capture-output.ts';

let output: CapturedOutput;
let telemetry: PowertoolsTelemetry;
beforeEach(() => {
  output = captureOutput();
  telemetry = new PowertoolsTelemetry({ functionName: 'phase1', stage: 'blue' });
});
afterEach(() => {
  vi.restoreAllMocks();
});

const BASE = { service: 'stillroom', stage: 'blue' };

/** Embedded metrics: dimensions with values, and metrics with values, a line each. */
function metrics(): readonly unknown[] {
  return output.lines().flatMap((line) => {
    const aws = line['_aws'];
    if (typeof aws !== 'object' || aws === null) return [];
    const { _aws: _, ...values } = line;
    return [{ ...values, directives: Reflect.get(aws, 'CloudWatchMetrics') }];
  });
}

describe('PowertoolsTelemetry, metrics', () => {
  it('writes the samples of an invocation at its end, one line for what shares its dimensions', () => {
    telemetry.count('stillroom.phase1', 1, { memory_version: 'v1', status: 'claimed' });
    telemetry.count('stillroom.phase1', 1, { memory_version: 'v1', status: 'succeeded' });
    telemetry.count('stillroom.phase1', 1, { memory_version: 'v1', status: 'claimed' });
    telemetry.record('stillroom.phase1.e2e_ms', 1_250, { memory_version: 'v1' });
    telemetry.record('stillroom.storage_bytes', 7);
    expect(output.text()).toBe('');
    telemetry.flush();
    const line = (dimensions: readonly string[], Name: string, Unit: string) => [
      { Namespace: 'Stillroom', Dimensions: [expect.toSatisfy(sameMembers(dimensions))], Metrics: [{ Name, Unit }] },
    ];
    const withStatus = line(['service', 'stage', 'status'], 'stillroom.phase1', 'Count');
    expect(metrics()).toEqual([
      { ...BASE, memory_version: 'v1', status: 'claimed', 'stillroom.phase1': [1, 1], directives: withStatus },
      { ...BASE, memory_version: 'v1', status: 'succeeded', 'stillroom.phase1': 1, directives: withStatus },
      {
        ...BASE,
        memory_version: 'v1',
        'stillroom.phase1.e2e_ms': 1_250,
        directives: line(['service', 'stage'], 'stillroom.phase1.e2e_ms', 'Milliseconds'),
      },
      {
        ...BASE,
        'stillroom.storage_bytes': 7,
        directives: line(['service', 'stage'], 'stillroom.storage_bytes', 'Bytes'),
      },
    ]);
  });

  it('writes nothing twice, and nothing when there is nothing', () => {
    telemetry.flush();
    telemetry.count('a', 1);
    telemetry.flush();
    telemetry.flush();
    expect(metrics()).toHaveLength(1);
  });

  it('makes no dimension of an id, and none of free text', () => {
    telemetry.count('a', 1, { thread_id: 't-1', user: 'x', status: 'fine words of a person', kind: null, outcome: '' });
    telemetry.flush();
    expect(metrics()).toMatchObject([{ status: 'other', thread_id: 't-1' }]);
    expect(JSON.stringify(metrics())).toContain('"Dimensions":[["service","stage","status"]]');
    expect(output.text()).not.toContain('fine words');
  });

  it('bounds the values of a dimension', () => {
    for (let at = 0; at < 100; at++) telemetry.count('a', 1, { outcome: `outcome-${at}` });
    telemetry.flush();
    const seen = new Set(metrics().map((line) => (line instanceof Object ? Reflect.get(line, 'outcome') : undefined)));
    expect(seen.size).toBe(31);
    expect(seen.has('other')).toBe(true);
  });

  it('loses no sample and no dimension of many', () => {
    for (let at = 0; at < 1_234; at++) telemetry.count('a', 1, { status: at % 2 === 0 ? 'even' : 'odd' });
    telemetry.flush();
    const sums = { even: 0, odd: 0 };
    for (const line of metrics()) {
      if (!(line instanceof Object)) continue;
      const status: unknown = Reflect.get(line, 'status');
      const values: unknown = Reflect.get(line, 'a');
      const count = Array.isArray(values) ? values.length : 1;
      if (status === 'even' || status === 'odd') sums[status] += count;
      else throw new Error('a line without its dimension');
    }
    expect(sums).toEqual({ even: 617, odd: 617 });
  });

  it('leaves out what is no number', () => {
    telemetry.record('a', Number.NaN);
    telemetry.record('a', Number.POSITIVE_INFINITY);
    telemetry.flush();
    expect(output.text()).toBe('');
  });
});

describe('PowertoolsTelemetry, events', () => {
  it('writes an event as one JSON line with what it belongs to', () => {
    telemetry.correlate({ request_id: 'r', thread_id: 't' });
    telemetry.event('info', 'extraction.ended', { outcome: 'extracted', detail: null });
    telemetry.correlate({ thread_id: null, run_id: 'run' });
    telemetry.event('error', 'run.failed', { code: 'a.b' });
    const always = { service: 'stillroom', stage: 'blue', function: 'phase1', request_id: 'r' };
    const [first, second] = output.lines();
    expect(first).toMatchObject({
      ...always,
      level: 'INFO',
      message: 'extraction.ended',
      thread_id: 't',
      outcome: 'extracted',
    });
    expect(second).toMatchObject({ ...always, level: 'ERROR', message: 'run.failed', run_id: 'run', code: 'a.b' });
    expect(second).not.toHaveProperty('thread_id');
  });

  it('leaves debug lines out and shows of a long text only its length', () => {
    telemetry.event('debug', 'x');
    telemetry.event('warn', 'y', { detail: 'words '.repeat(100) });
    expect(output.lines()).toHaveLength(1);
    expect(output.lines()[0]).toMatchObject({ detail: '(600 characters)' });
  });

  it('never throws, also when nothing can be written', () => {
    vi.spyOn(process.stdout, 'write').mockImplementation(() => {
      throw new Error('closed pipe');
    });
    expect(() => {
      telemetry.count('', 1);
      telemetry.count('a', 1, { status: 'x' });
      telemetry.event('info', 'y');
      telemetry.correlate({ run_id: 'z' });
      telemetry.flush();
    }).not.toThrow();
  });
});

function sameMembers(wanted: readonly string[]): (value: unknown) => boolean {
  return (value) => Array.isArray(value) && value.toSorted().join() === [...wanted].sort().join();
}
