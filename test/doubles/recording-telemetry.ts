import type { Telemetry, TelemetryFields } from '../../core/ports/telemetry.ts';

export interface RecordedValue {
  readonly name: string;
  readonly value: number;
  readonly tags: TelemetryFields;
}

export interface RecordedEvent {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly name: string;
  readonly fields: TelemetryFields;
}

/** Keeps everything it is told, in order. */
export class RecordingTelemetry implements Telemetry {
  readonly counts: RecordedValue[] = [];
  readonly values: RecordedValue[] = [];
  readonly events: RecordedEvent[] = [];

  count(name: string, value: number, tags: TelemetryFields = {}): void {
    this.counts.push({ name, value, tags });
  }

  record(name: string, value: number, tags: TelemetryFields = {}): void {
    this.values.push({ name, value, tags });
  }

  event(level: RecordedEvent['level'], name: string, fields: TelemetryFields = {}): void {
    this.events.push({ level, name, fields });
  }

  /** Sum of a counter over all its tags. */
  total(name: string): number {
    return this.counts.filter((item) => item.name === name).reduce((sum, item) => sum + item.value, 0);
  }
}
