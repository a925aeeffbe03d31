import { type Span, type SpanOptions, SpanStatusCode, trace } from '@opentelemetry/api';
import { afterEach, describe, expect, it } from 'vitest';
import { withSpan } from '../../../adapters/telemetry/spans.ts';
import { UnavailableError } from '../../../core/errors.ts';

interface SeenSpan {
  readonly name: string;
  readonly options: SpanOptions;
  status?: unknown;
  ended: boolean;
}

/** A tracer that keeps what it is told of spans; its spans refuse what `withSpan` has no business with. */
function recordSpans(): readonly SeenSpan[] {
  const seen: SeenSpan[] = [];
  const startActiveSpan = (name: string, options: SpanOptions, run: (span: Span) => unknown): unknown => {
    const entry: SeenSpan = { name, options, ended: false };
    seen.push(entry);
    const refuse = (): never => {
      throw new Error('unexpected use of a span');
    };
    const span: Span = {
      spanContext: refuse,
      setAttribute: refuse,
      setAttributes: refuse,
      addEvent: refuse,
      addLink: refuse,
      addLinks: refuse,
      updateName: refuse,
      isRecording: () => true,
      recordException: refuse,
      setStatus(status) {
        entry.status = status;
        return span;
      },
      end() {
        entry.ended = true;
      },
    };
    return run(span);
  };
  const tracer = new Proxy(trace.getTracer('none'), {
    get: (_target, name) => (name === 'startActiveSpan' ? startActiveSpan : undefined),
  });
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
  return seen;
}

afterEach(() => {
  trace.disable();
});

describe('withSpan', () => {
  it('passes answers and errors through where nobody traces', async () => {
    expect(await withSpan('a', { id: 1 }, async () => 5)).toBe(5);
    const error = new Error('x');
    await expect(withSpan('a', {}, () => Promise.reject(error))).rejects.toBe(error);
  });

  it('tells a tracer name, attributes and end', async () => {
    const seen = recordSpans();
    expect(await withSpan('phase1.extract', { thread_id: 't', bytes: 5, none: null }, async () => 'ok')).toBe('ok');
    const attributes = { thread_id: 't', bytes: 5 };
    expect(seen).toEqual([{ name: 'phase1.extract', options: { attributes }, ended: true }]);
  });

  it('tells a failure by its code, never by its message', async () => {
    const seen = recordSpans();
    const failure = new UnavailableError('table.unavailable', 'MARKER');
    await expect(withSpan('a', {}, () => Promise.reject(failure))).rejects.toBe(failure);
    await expect(withSpan('b', {}, () => Promise.reject(new Error('MARKER')))).rejects.toThrow();
    expect(seen.map((span) => [span.ended, span.status])).toEqual([
      [true, { code: SpanStatusCode.ERROR, message: 'table.unavailable' }],
      [true, { code: SpanStatusCode.ERROR, message: 'unexpected' }],
    ]);
  });
});
