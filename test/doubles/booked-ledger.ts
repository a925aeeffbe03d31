import type { TokenUsage } from '../../core/agent/token-usage.ts';
import type { Reservation, UsageLedger } from '../../core/ports/usage-ledger.ts';

/** Shows every reservation and settlement as it was made; refuses from `refuseFrom` reservations on. */
export class BookedLedger implements UsageLedger {
  readonly reservations: Reservation[] = [];
  readonly settled = new Map<string, TokenUsage | null>();
  refuseFrom = Number.POSITIVE_INFINITY;

  async reserve(_userKey: string, reservation: Reservation) {
    if (this.reservations.length >= this.refuseFrom)
      return { kind: 'over_budget', usedTokens: 7, limit: reservation.dailyLimit } as const;
    if (!this.reservations.some((known) => known.callId === reservation.callId)) this.reservations.push(reservation);
    return { kind: 'reserved' } as const;
  }

  async settle(_userKey: string, callId: string, usage: TokenUsage | null): Promise<void> {
    if (!this.reservations.some((known) => known.callId === callId)) throw new Error(`${callId} was not reserved`);
    if (!this.settled.has(callId)) this.settled.set(callId, usage);
  }

  async day(): Promise<never> {
    throw new Error('this ledger keeps no days');
  }
}
