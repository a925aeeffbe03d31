import type { Clock } from '../../core/ports/clock.ts';

/** A clock that stands still until a test moves it. */
export class FixedClock implements Clock {
  #now: number;

  constructor(now: number) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  /** Sets the time, forwards or back. */
  set(now: number): void {
    this.#now = now;
  }

  advance(ms: number): void {
    this.#now += ms;
  }
}
