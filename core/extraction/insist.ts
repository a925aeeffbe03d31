import { UnavailableError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import { LIMITS } from '../settings.ts';

/** Each try has the adapter's own retry and its pause within. */
const TRIES = 5;

/**
 * Repeats a step that keeps what was paid for while the store says that it is out: one throttled write must not throw a paid
 * answer away. The step must be safe to repeat. The simulation of docs/scale.md shows what it saves.
 * @throws the last failure
 */
export type Insist = <T>(step: () => Promise<T>) => Promise<T>;

/**
 * Insists on all the steps of one run: five tries each, and no further try of any once they took `LIMITS.insistMs` together.
 * So a store that hangs instead of refusing does not outlive the function's reserve. A try that was begun is not cut off: its
 * adapter's time-outs end it.
 */
export function insistWithin(clock: Clock): Insist {
  let spentMs = 0;
  return async (step) => {
    for (let attempt = 1; ; attempt++) {
      const startedAt = clock.now();
      const spent = (): number => Math.max(0, clock.now() - startedAt);
      try {
        const answer = await step();
        spentMs += spent();
        return answer;
      } catch (error) {
        spentMs += spent();
        if (!(error instanceof UnavailableError) || attempt >= TRIES || spentMs >= LIMITS.insistMs) throw error;
      }
    }
  };
}
