import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Telemetry, TelemetryFields } from '../../core/ports/telemetry.ts';
import { MetricBuffer, type MetricGroup } from './metric-buffer.ts';

/** Of every metric (CloudWatch). Each carries the dimensions `service` = `stillroom` and `stage`, and those of its tags. */
export const METRICS_NAMESPACE = 'Stillroom';
const SERVICE = 'stillroom';
/** Samples kept before they are written without being asked to. */
const MAX_WAITING = 500;
/** A line of embedded metrics holds at most 100 values of one metric. */
const SAMPLES_A_LINE = 50;
/** No code, id, size or hash is longer. */
const MAX_FIELD_CHARS = 256;

export interface PowertoolsSettings {
  /** Name of the function: shown in every log line. */
  readonly functionName: string;
  readonly stage: string;
}

/** What work a line belongs to. Null ends it. */
export interface Correlation {
  readonly request_id?: string | null;
  readonly thread_id?: string | null;
  readonly run_id?: string | null;
}

/**
 * Telemetry of a Lambda function: events as JSON log lines, metrics in the embedded format, which cost no call. Metrics are
 * written by `flush`, at the end of an invocation. Nothing here throws: a lost line must not fail the work.
 */
export class PowertoolsTelemetry implements Telemetry {
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #buffer = new MetricBuffer();

  constructor(settings: PowertoolsSettings) {
    const { functionName, stage } = settings;
    this.#logger = new Logger({ serviceName: SERVICE, persistentKeys: { stage, function: functionName } });
    this.#metrics = new Metrics({
      namespace: METRICS_NAMESPACE,
      serviceName: SERVICE,
      defaultDimensions: { stage },
    });
  }

  count(name: string, value: number, tags: TelemetryFields = {}): void {
    this.#sample(name, value, tags);
  }

  record(name: string, value: number, tags: TelemetryFields = {}): void {
    this.#sample(name, value, tags);
  }

  event(level: 'debug' | 'info' | 'warn' | 'error', name: string, fields: TelemetryFields = {}): void {
    safely(() => this.#logger[level](name, bounded(fields)));
  }

  /** Adds ids to every line from now on. */
  correlate(ids: Correlation): void {
    safely(() => {
      const entries = Object.entries(ids);
      this.#logger.appendKeys(Object.fromEntries(entries.filter(([, id]) => typeof id === 'string')));
      this.#logger.removeKeys(entries.filter(([, id]) => id === null).map(([name]) => name));
    });
  }

  /** Writes the metrics that wait. */
  flush(): void {
    for (const group of this.#buffer.drain()) {
      for (let from = 0; from < group.samples.length; from += SAMPLES_A_LINE) {
        const samples = group.samples.slice(from, from + SAMPLES_A_LINE);
        safely(() => this.#publish({ ...group, samples }));
      }
    }
  }

  #sample(name: string, value: number, tags: TelemetryFields): void {
    safely(() => this.#buffer.add(name, value, tags));
    if (this.#buffer.size >= MAX_WAITING) this.flush();
  }

  #publish(group: MetricGroup): void {
    for (const [name, value] of Object.entries(group.dimensions)) this.#metrics.addDimension(name, value);
    for (const [name, value] of Object.entries(group.metadata)) this.#metrics.addMetadata(name, value);
    for (const { name, value } of group.samples) this.#metrics.addMetric(name, unitOf(name), value);
    this.#metrics.publishStoredMetrics();
  }
}

/** By the name, as the port says. */
function unitOf(name: string): (typeof MetricUnit)[keyof typeof MetricUnit] {
  if (name.endsWith('_ms')) return MetricUnit.Milliseconds;
  return name.endsWith('_bytes') ? MetricUnit.Bytes : MetricUnit.Count;
}

/** A long text is no id, size or code: only its length is shown. */
function bounded(fields: TelemetryFields): Record<string, string | number | boolean | null> {
  const shown = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' && value.length > MAX_FIELD_CHARS ? `(${value.length} characters)` : value,
  ]);
  return Object.fromEntries(shown);
}

function safely(work: () => void): void {
  try {
    work();
  } catch {
    // the port's rule: a lost line must not fail the work (a closed pipe, for one)
  }
}
