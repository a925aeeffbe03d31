/** Tags and fields carry names, ids, sizes, hashes and codes, never content (README, "Money and data are sacred"). */
export type TelemetryFields = Readonly<Record<string, string | number | boolean | null>>;

/** Metrics and events. Never throws; a lost metric must not fail the work. */
export interface Telemetry {
  /** Adds to a counter. Names as in behaviours 1.X. */
  count(name: string, value: number, tags?: TelemetryFields): void;
  /** Records one value of a distribution: milliseconds for `*_ms`, else tokens or bytes as the name says. */
  record(name: string, value: number, tags?: TelemetryFields): void;
  /** Something worth a log line. */
  event(level: 'debug' | 'info' | 'warn' | 'error', name: string, fields?: TelemetryFields): void;
}
