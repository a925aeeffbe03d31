import type { SkipReason } from '../extraction/outcome.ts';
import { NEVER_SOURCES, type Settings } from '../settings.ts';
import { compareBytes } from '../text.ts';
import { DAY_MS, HOUR_MS, toFileTime } from '../time.ts';
import type { Thread } from './thread.ts';

const SUBAGENT = 'subagent';

export interface EligibilityRules {
  /** ms since the epoch. */
  readonly now: number;
  readonly settings: Pick<Settings, 'allowedSources' | 'minRolloutIdleHours'>;
  /** The session that asks: it is still going on. */
  readonly currentThreadId?: string;
  /** True: threads are taken without the idle wait (`--include-active`, "extract now"). */
  readonly includeActive: boolean;
  /** Oldest last record that is taken, as an age; null = any age. Negative counts as 0 (behaviours A-07). */
  readonly maxAgeMs: number | null;
}

export type Eligibility =
  | { readonly kind: 'eligible' }
  | {
      readonly kind: 'skipped';
      readonly reason: SkipReason;
      /** Names the number or the value that decided it; never content. */
      readonly detail: string;
      /** When the reason will be over by itself, ms since the epoch; absent: never. */
      readonly until?: number;
    };

/**
 * Whether a thread may be extracted (behaviours A-06, DV-16, DV-22). The first reason that holds is told, in this order:
 * forgotten, ephemeral, subagent, source, disabled, polluted, too_old, not_idle. Both ends of the age window count as
 * inside, to the millisecond.
 */
export function checkEligibility(thread: Thread, rules: EligibilityRules): Eligibility {
  if (thread.forgottenAt !== null) return skip('forgotten', `forgotten at ${toFileTime(thread.forgottenAt)}`);
  if (thread.ephemeral) return skip('ephemeral', 'the agent declared the session not to be kept');
  return checkOrigin(thread, rules.settings.allowedSources) ?? checkMode(thread) ?? checkAge(thread, rules) ?? ELIGIBLE;
}

/**
 * What a thread that waits in a queue is measured by: what a person asked for by name is never too old, and what was there
 * when they asked is not waited for.
 */
export function rulesForThread(
  thread: Pick<Thread, 'requestedAt' | 'rollout'>,
  settings: Pick<Settings, 'maxRolloutAgeDays'>,
): Pick<EligibilityRules, 'includeActive' | 'maxAgeMs'> {
  const { requestedAt, rollout } = thread;
  return {
    includeActive: requestedAt !== null && requestedAt >= rollout.uploadedAt,
    maxAgeMs: requestedAt === null ? settings.maxRolloutAgeDays * DAY_MS : null,
  };
}

/**
 * The threads a pass looks at, newest first and at most `scanLimit` (behaviours ): the limit counts eligible
 * threads only, and counts them before anyone asks if they are up to date.
 */
export function pickCandidates(
  threads: Iterable<Thread>,
  rules: EligibilityRules & { readonly scanLimit: number },
): readonly Thread[] {
  if (rules.scanLimit <= 0) return [];
  return [...threads]
    .filter((thread) => checkEligibility(thread, rules).kind === 'eligible')
    .sort((left, right) => right.updatedAt - left.updatedAt || compareBytes(left.threadId, right.threadId))
    .slice(0, rules.scanLimit);
}

const ELIGIBLE: Eligibility = { kind: 'eligible' };

function checkOrigin(thread: Thread, allowed: readonly string[]): Eligibility | undefined {
  if (NEVER_SOURCES.includes(thread.source)) return skip('source', `source ${thread.source} is never extracted`);
  if (thread.subagent && !allowed.includes(SUBAGENT)) {
    return skip('subagent', 'opened by another agent; allowed_sources does not name subagent');
  }
  if (allowed.includes(thread.source)) return undefined;
  return skip('source', `source ${showSource(thread.source)} is not in allowed_sources`);
}

function checkMode(thread: Thread): Eligibility | undefined {
  if (thread.memoryMode === 'disabled') return skip('disabled', 'memory mode disabled');
  return thread.memoryMode === 'polluted' ? skip('polluted', 'memory mode polluted') : undefined;
}

function checkAge(thread: Thread, rules: EligibilityRules): Eligibility | undefined {
  const { now, maxAgeMs } = rules;
  const oldest = maxAgeMs === null ? null : now - Math.max(0, maxAgeMs);
  if (oldest !== null && thread.updatedAt < oldest) {
    return skip('too_old', `last record ${toFileTime(thread.updatedAt)}, oldest taken ${toFileTime(oldest)}`);
  }
  if (thread.threadId === rules.currentThreadId) return skip('not_idle', 'the session that asks');
  const idleMs = Math.max(0, rules.settings.minRolloutIdleHours) * HOUR_MS;
  if (rules.includeActive || thread.ended || thread.updatedAt <= now - idleMs) return undefined;
  const until = thread.updatedAt + idleMs;
  return { ...skip('not_idle', `last record ${toFileTime(thread.updatedAt)}, idle from ${toFileTime(until)}`), until };
}

/** A source comes from the rollout: shown only where it is a plain name. */
function showSource(source: string): string {
  return /^[\w.:-]{1,64}$/.test(source) ? source : '(no plain name)';
}

function skip(reason: SkipReason, detail: string): Extract<Eligibility, { kind: 'skipped' }> {
  return { kind: 'skipped', reason, detail };
}
