import type { Clock } from '../../core/ports/clock.ts';

/** How long a model that cannot be used is left alone by a process: a person must act first. */
export const PAUSE_MS = 60_000;

/**
 * Models that cannot be used as they are configured (user case A37), by name: one user's wrong choice of a model must not keep
 * the others waiting.
 */
export class ModelPause {
  readonly #clock: Clock;
  readonly #until = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Starts, or starts over. */
  begin(model: string): void {
    const now = this.#clock.now();
    for (const [name, until] of this.#until) if (until <= now) this.#until.delete(name);
    this.#until.set(model, now + PAUSE_MS);
  }

  /** @returns when the pause ends, ms since the epoch; undefined when there is none */
  endOf(model: string): number | undefined {
    const until = this.#until.get(model);
    return until !== undefined && until > this.#clock.now() ? until : undefined;
  }
}
