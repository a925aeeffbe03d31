import { UnavailableError } from '../errors.ts';

/** Each try has the adapter's own retry and its pause within. */
const TRIES = 5;

/**
 * Repeats a step that keeps what was paid for while the store says that it is out: one throttled write must not throw a paid
 * answer away. The step must be safe to repeat. The simulation of docs/scale.md shows what it saves.
 * @throws the last failure
 */
export async function insist<T>(step: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof UnavailableError) || attempt >= TRIES) throw error;
    }
  }
}
