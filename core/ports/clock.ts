/** The time. Adapters: the system clock; a clock that a test sets. */
export interface Clock {
  /** Integer milliseconds since the epoch. */
  now(): number;
}
