import { rememberedEvidenceTokens } from '../../core/extraction/evidence-limit.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import { MINUTE_MS } from '../../core/time.ts';

const MAX_AGE_MS = 15 * MINUTE_MS;
const MAX_USERS = 500;
/** A rollout below this, as uploaded and perhaps compressed tenfold, hardly fills the window of a small model. */
const LARGE_BYTES = 64 * 1_024;

interface Known {
  readonly readAt: number;
  readonly tokens: number | undefined;
}

/**
 * How much evidence a user's model took before (DV-14). It is written in the outcomes of all the user's threads, and reading
 * these costs with their number; so it is looked up for large rollouts only, once in a quarter of an hour for a user and model.
 * Not knowing it costs one refused request, which is not paid for.
 */
export class EvidenceMemory {
  readonly #jobs: Pick<JobStore, 'listExtractions'>;
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();

  constructor(jobs: Pick<JobStore, 'listExtractions'>, clock: Clock) {
    this.#jobs = jobs;
    this.#clock = clock;
  }

  /** @returns tokens; undefined when nothing is known. @throws UnavailableError of the store */
  async recall(userKey: string, model: string, rolloutBytes: number): Promise<number | undefined> {
    if (rolloutBytes < LARGE_BYTES) return undefined;
    const key = keyOf(userKey, model);
    const known = this.#known.get(key);
    if (known !== undefined && this.#clock.now() - known.readAt < MAX_AGE_MS) return known.tokens;
    const tokens = rememberedEvidenceTokens(await this.#jobs.listExtractions(userKey), model);
    this.#keep(key, { readAt: this.#clock.now(), tokens });
    return tokens;
  }

  /** An extraction ended with a note of its own: what is known is out of date. */
  forget(userKey: string, model: string): void {
    this.#known.delete(keyOf(userKey, model));
  }

  #keep(key: string, known: Known): void {
    this.#known.delete(key); // so that the newest is last
    this.#known.set(key, known);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_USERS) return;
      this.#known.delete(oldest);
    }
  }
}

function keyOf(userKey: string, model: string): string {
  return `${userKey}/${model}`; // no `/` in a user key
}
