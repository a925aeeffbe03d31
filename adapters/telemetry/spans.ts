import { type Attributes, SpanStatusCode, trace } from '@opentelemetry/api';
import { StillroomError } from '../../core/errors.ts';
import type { TelemetryFields } from '../../core/ports/telemetry.ts';

/**
 * Runs work within a span. Without a tracing SDK in the process nothing is recorded and next to nothing spent.
 * @param attributes names, ids and sizes, as in every telemetry; null is left out
 * @returns what the work answers; what it throws passes through, and the span keeps its code, never its message
 */
export function withSpan<T>(name: string, attributes: TelemetryFields, work: () => Promise<T>): Promise<T> {
  return trace.getTracer('stillroom').startActiveSpan(name, { attributes: present(attributes) }, async (span) => {
    try {
      return await work();
    } catch (error) {
      const message = error instanceof StillroomError ? error.code : 'unexpected';
      span.setStatus({ code: SpanStatusCode.ERROR, message });
      throw error;
    } finally {
      span.end();
    }
  });
}

function present(fields: TelemetryFields): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(fields)) if (value !== null) attributes[name] = value;
  return attributes;
}
