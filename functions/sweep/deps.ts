import type { SweepPorts } from '../../core/control/sweep.ts';
import type { TelemetryFields } from '../../core/ports/telemetry.ts';

/** What the function's telemetry can besides the port. */
export interface Tracing {
  /** Adds ids to every log line from now on; null ends it. */
  correlate(ids: { readonly request_id?: string | null }): void;
  /** Writes the metrics that wait. */
  flush(): void;
  withSpan<T>(name: string, attributes: TelemetryFields, work: () => Promise<T>): Promise<T>;
}

/** What a pass needs. Made once a process. */
export interface SweepDeps extends SweepPorts {
  readonly tracing: Tracing;
}
