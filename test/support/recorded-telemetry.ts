import type { Telemetry, TelemetryFields } from '../../core/ports/telemetry.ts';

export interface RecordedEvent {
  readonly level: string;
  readonly name: string;
  readonly fields: TelemetryFields;
}

/** Keeps everything that is told, so that a test can look for what must not be in it. */
export class RecordedTelemetry implements Telemetry {
  readonly events: RecordedEvent[] = [];
  readonly metrics: { readonly name: string; readonly value: number; readonly tags: TelemetryFields }[] = [];

  count(name: string, value: number, tags: TelemetryFields = {}): void {
    this.metrics.push({ name, value, tags });
  }

  record(name: string, value: number, tags: TelemetryFields = {}): void {
    this.metrics.push({ name, value, tags });
  }

  event(level: 'debug' | 'info' | 'warn' | 'error', name: string, fields: TelemetryFields = {}): void {
    this.events.push({ level, name, fields });
  }
}
