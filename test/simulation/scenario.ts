import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/time.ts';

/** One run of the simulation, at a thousandth of the size it stands for. */
export interface Scenario {
  readonly name: string;
  readonly seed: number;
  readonly days: number;
  readonly users: number;
  readonly rolloutsPerDay: number;
  /** Messages worked on at once: the queue's maximum concurrency. */
  readonly workers: number;
  /**
   * What keeps to `workers`: the queue, which hands out no more messages (the default), or the function, which refuses what
   * pollers bring it, so that each refusal spends a receive (user case C10).
   */
  readonly limitedBy?: 'queue' | 'function';
  /** Most jobs of a kind that one sweep hands on. */
  readonly sweepJobs: number;
  /** One user uploads this many at once, at noon of the first day. */
  readonly burst?: number;
  readonly outage?: { readonly from: number; readonly until: number; readonly state: 'refusing' | 'silent' };
  /** This share of the uploads from noon to one of the first day cannot be read. */
  readonly poisonShare?: number;
  /** A call of a table or bucket fails with this chance in the given time, the adapter's own retry included. */
  readonly throttle?: { readonly from: number; readonly until: number; readonly share: number };
}

/** Midnight of the first day. */
export const START = Date.UTC(2026, 0, 5);
export const NOON = START + 12 * HOUR_MS;

/** 10 million rollouts a day of 1 million users, divided by 1,000. */
const BASE = { seed: 7, days: 2, users: 1_000, rolloutsPerDay: 10_000, workers: 8, sweepJobs: 1_000 };

export const SCENARIOS: readonly Scenario[] = [
  { ...BASE, name: 'a plain day' },
  { ...BASE, name: 'one user uploads 1,000 at once', burst: 1_000 },
  {
    ...BASE,
    name: 'provider refuses for 6 hours',
    outage: { from: NOON, until: NOON + 6 * HOUR_MS, state: 'refusing' },
  },
  {
    ...BASE,
    name: 'provider is silent for 6 hours',
    outage: { from: NOON, until: NOON + 6 * HOUR_MS, state: 'silent' },
  },
  { ...BASE, name: 'half of an hour is unreadable', poisonShare: 0.5 },
  { ...BASE, name: 'stores throttled for an hour', throttle: { from: NOON, until: NOON + HOUR_MS, share: 0.05 } },
  { ...BASE, name: 'half the workers', workers: 4 },
];

/** ms between two uploads: they follow the day, the busiest hour with 1.8 times the mean. */
export function uploadGapMs(scenario: Scenario, at: number): number {
  const dayShare = (at % DAY_MS) / DAY_MS;
  const load = 1 + 0.8 * Math.sin(2 * Math.PI * (dayShare - 0.25));
  return DAY_MS / scenario.rolloutsPerDay / load;
}

/** How long work takes, and what the queue does. */
export const TIMES = {
  /** One call of extraction: median, and what 95 % stay below. */
  callMs: { median: 25_000, p95: 80_000 },
  refusalMs: 400,
  /** What a message costs besides the call: reading, storing. */
  handlingMs: 900,
  consolidationMs: { median: 3 * MINUTE_MS, p95: 8 * MINUTE_MS },
  /** Before a failed message is seen again: doubled with each receive. */
  redeliverMs: 30_000,
  maxReceives: 5,
} as const;

/** Share of sessions that are uploaded as ended; the others wait until they are idle. */
export const ENDED_SHARE = 0.7;
