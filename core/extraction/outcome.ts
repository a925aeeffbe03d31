/**
 * How a thread's extraction ended (DV-22): a closed list, shown to the user for every thread. `detail` is a short,
 * content-free explanation (a number and its limit, an error code).
 */
export const SKIP_REASONS = [
  'ephemeral',
  'subagent',
  'source',
  'disabled',
  'polluted',
  'too_old',
  'not_idle',
  'too_short',
  'forgotten',
  'unchanged',
  'foreign',
] as const;
export const DEFER_REASONS = ['budget', 'rate_limit'] as const;
export const FAIL_REASONS = [
  'too_large',
  'unreadable',
  'unrecognised_format',
  'no_thread_id',
  'model_refused',
  'model_invalid',
  'model_unavailable',
  'filtered',
  'configuration',
  'exhausted',
] as const;

export type SkipReason = (typeof SKIP_REASONS)[number];
export type DeferReason = (typeof DEFER_REASONS)[number];
export type FailReason = (typeof FAIL_REASONS)[number];

export type Outcome =
  | { readonly kind: 'extracted'; readonly detail?: string }
  | { readonly kind: 'no_output'; readonly detail?: string }
  | { readonly kind: 'skipped'; readonly reason: SkipReason; readonly detail?: string }
  | { readonly kind: 'deferred'; readonly reason: DeferReason; readonly detail?: string }
  | { readonly kind: 'failed'; readonly reason: FailReason; readonly detail?: string };

/** The short name used in listings and metrics: `extracted`, `skipped(too_short)`, … */
export function outcomeName(outcome: Outcome): string {
  return 'reason' in outcome ? `${outcome.kind}(${outcome.reason})` : outcome.kind;
}

/** Reads a short name and its detail back, as a store keeps them. @returns undefined for a name that is not on the list. */
export function parseOutcome(name: string, detail?: string | null): Outcome | undefined {
  const extra = detail === null || detail === undefined ? {} : { detail };
  if (name === 'extracted' || name === 'no_output') return { kind: name, ...extra };
  const match = /^(skipped|deferred|failed)\((\w+)\)$/.exec(name);
  const skip = SKIP_REASONS.find((reason) => reason === match?.[2]);
  const defer = DEFER_REASONS.find((reason) => reason === match?.[2]);
  const fail = FAIL_REASONS.find((reason) => reason === match?.[2]);
  if (match?.[1] === 'skipped' && skip) return { kind: 'skipped', reason: skip, ...extra };
  if (match?.[1] === 'deferred' && defer) return { kind: 'deferred', reason: defer, ...extra };
  if (match?.[1] === 'failed' && fail) return { kind: 'failed', reason: fail, ...extra };
  return undefined;
}
