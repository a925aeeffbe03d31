import type { TelemetryFields } from '../../core/ports/telemetry.ts';

/** The tags that become dimensions. Each combination of values is a metric of its own, and paid for: the list is closed. */
const DIMENSIONS: ReadonlySet<string> = new Set([
  'kind',
  'operation',
  'outcome',
  'purpose',
  'scope',
  'status',
  'token_type',
]);
/** Values of one dimension in the life of a process; what comes after them counts as `OTHER`. */
const MAX_VALUES = 30;
const OTHER = 'other';
const PLAIN = /^[\w.:/()-]{1,64}$/;

export interface Sample {
  readonly name: string;
  readonly value: number;
}

/** Samples that share everything but their name and value: one line of the log. */
export interface MetricGroup {
  readonly dimensions: Readonly<Record<string, string>>;
  /** Tags that are no dimensions: shown with the samples, not counted by. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly samples: readonly Sample[];
}

/** Collects samples by their tags until they are written. */
export class MetricBuffer {
  readonly #known = new Map<string, Set<string>>();
  #groups = new Map<string, MetricGroup & { readonly samples: Sample[] }>();
  #size = 0;

  /** How many samples wait. */
  get size(): number {
    return this.#size;
  }

  /** What is no finite number is no sample. */
  add(name: string, value: number, tags: TelemetryFields): void {
    if (!Number.isFinite(value)) return;
    const { dimensions, metadata } = this.#sort(tags);
    const key = JSON.stringify([dimensions, metadata]);
    const group = this.#groups.get(key) ?? { dimensions, metadata, samples: [] };
    group.samples.push({ name, value });
    this.#groups.set(key, group);
    this.#size++;
  }

  /** Takes out all that waits. */
  drain(): readonly MetricGroup[] {
    const groups = [...this.#groups.values()];
    this.#groups = new Map();
    this.#size = 0;
    return groups;
  }

  #sort(tags: TelemetryFields): Pick<MetricGroup, 'dimensions' | 'metadata'> {
    const dimensions: Record<string, string> = {};
    const metadata: Record<string, string> = {};
    for (const name of Object.keys(tags).sort()) {
      const value = tags[name];
      if (value === null || value === undefined || value === '') continue;
      if (DIMENSIONS.has(name)) dimensions[name] = this.#bound(name, String(value));
      else metadata[name] = PLAIN.test(String(value)) ? String(value) : OTHER;
    }
    return { dimensions, metadata };
  }

  #bound(name: string, value: string): string {
    const known = this.#known.get(name) ?? new Set();
    this.#known.set(name, known);
    if (known.has(value)) return value;
    if (!PLAIN.test(value) || known.size >= MAX_VALUES) return OTHER;
    known.add(value);
    return value;
  }
}
