import type { Telemetry, TelemetryFields } from '../../core/ports/telemetry.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type TelemetryLevel = (typeof LEVELS)[number];

/**
 * Writes JSON lines: events from a level up, counters and distributions at level `debug`. Never throws; a line that cannot
 * be written is lost.
 */
export class ConsoleTelemetry implements Telemetry {
  readonly #from: number;
  readonly #write: (line: string) => void;

  /** @param write takes one line with its line end; stderr by default, since stdout belongs to answers */
  constructor(level: TelemetryLevel, write: (line: string) => void = writeToStderr) {
    this.#from = LEVELS.indexOf(level);
    this.#write = write;
  }

  count(name: string, value: number, tags: TelemetryFields = {}): void {
    this.#line('debug', { metric: name, count: value, ...tags });
  }

  record(name: string, value: number, tags: TelemetryFields = {}): void {
    this.#line('debug', { metric: name, value, ...tags });
  }

  event(level: TelemetryLevel, name: string, fields: TelemetryFields = {}): void {
    this.#line(level, { event: name, ...fields });
  }

  #line(level: TelemetryLevel, fields: TelemetryFields): void {
    if (LEVELS.indexOf(level) < this.#from) return;
    try {
      this.#write(`${JSON.stringify({ level, ...fields })}\n`);
    } catch {
      // the port's rule: a lost line must not fail the work (a closed pipe, for one)
    }
  }
}

function writeToStderr(line: string): void {
  process.stderr.write(line);
}
