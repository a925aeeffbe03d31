import type { ExtractionPorts } from '../../core/extraction/extract-thread.ts';
import type { JobQueue } from '../../core/ports/job-queue.ts';
import type { SettingsStore } from '../../core/ports/settings-store.ts';
import type { TelemetryFields } from '../../core/ports/telemetry.ts';
import type { RolloutOf } from './decode-record.ts';

/** Sets when a message that was received and not settled comes back. */
export interface Redelivery {
  /** @param seconds from now; 0 = at once. @throws UnavailableError; the message then comes back by the queue's own time-out */
  redeliver(receiptHandle: string, seconds: number): Promise<void>;
}

/** What a function's telemetry can besides the port. */
export interface Tracing {
  /** Adds ids to every log line from now on; null ends it. */
  correlate(ids: { readonly request_id?: string | null; readonly thread_id?: string | null }): void;
  /** Writes the metrics that wait. */
  flush(): void;
  withSpan<T>(name: string, attributes: TelemetryFields, work: () => Promise<T>): Promise<T>;
}

/** What intake and extraction on the queue need. Made once a process. */
export interface Phase1Deps extends ExtractionPorts {
  readonly settings: SettingsStore;
  /** Takes the threads whose uploads were taken in. */
  readonly queue: JobQueue;
  readonly redelivery: Redelivery;
  readonly tracing: Tracing;
  readonly rolloutOf: RolloutOf;
  /** For users who chose none. */
  readonly extractModel: string;
  /** Tokens a day for users who chose none; null: the built-in default. */
  readonly dailyTokenBudget: number | null;
}
