import type { DayUsage, UsageLedger } from '../core/ports/usage-ledger.ts';

/**
 * The offline stand-in costs nothing: its calls are counted like all others, but on an account of their own and under no
 * budget, so that a large import is never put off for it and a hosted model starts the day with a full budget.
 */
export function offlineLedger(ledger: UsageLedger): UsageLedger {
  return {
    reserve: (userKey, reservation) =>
      ledger.reserve(offlineAccount(userKey), { ...reservation, dailyLimit: Number.MAX_SAFE_INTEGER }),
    settle: (userKey, callId, usage) => ledger.settle(offlineAccount(userKey), callId, usage),
    day: (userKey, day): Promise<DayUsage> => ledger.day(offlineAccount(userKey), day),
  };
}

/** No user key holds a slash (storage.md, "Identity"), so no user can have this one. */
function offlineAccount(userKey: string): string {
  return `${userKey}/offline`;
}
