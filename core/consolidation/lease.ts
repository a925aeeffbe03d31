import type { Clock } from '../ports/clock.ts';
import type { JobStore } from '../ports/job-store.ts';
import { LIMITS } from '../settings.ts';

const KEY = { kind: 'consolidation' } as const;

/** A won claim of a user's consolidation: keeps the lease alive and knows when it was lost (behaviours F-11, F-12; DV-2). */
export class Lease {
  readonly token: string;
  readonly #ports: { readonly jobs: JobStore; readonly clock: Clock };
  readonly #userKey: string;
  #lastBeatAt: number;
  #lost = false;

  constructor(ports: { readonly jobs: JobStore; readonly clock: Clock }, userKey: string, token: string) {
    this.#ports = ports;
    this.#userKey = userKey;
    this.token = token;
    this.#lastBeatAt = ports.clock.now();
  }

  /** True once a heartbeat was refused. Never goes back. */
  get lost(): boolean {
    return this.#lost;
  }

  /** Beats when 60 s have gone by since the last beat. @returns false when ownership is lost */
  async keep(): Promise<boolean> {
    if (this.#lost) return false;
    if (this.#ports.clock.now() - this.#lastBeatAt < LIMITS.heartbeatMs) return true;
    return this.confirm();
  }

  /** Beats now, whatever the time. @returns false when ownership is lost */
  async confirm(): Promise<boolean> {
    if (this.#lost) return false;
    const now = this.#ports.clock.now();
    const held = await this.#ports.jobs.heartbeat(this.#userKey, KEY, this.token, {
      now,
      leaseMs: LIMITS.consolidationLeaseMs,
    });
    this.#lastBeatAt = now;
    this.#lost = !held;
    return held;
  }
}
