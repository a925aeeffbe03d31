import type { Clock } from '../../core/ports/clock.ts';

/** The machine's time. */
export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }
}
