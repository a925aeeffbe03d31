import type { Receipt, ReceiptStore } from '../../core/ports/receipt-store.ts';
import { LIMITS } from '../../core/settings.ts';

/** Receipts held in memory. */
export class MemoryReceiptStore implements ReceiptStore {
  readonly #kept = new Map<string, { receipt: Receipt; keptAt: number }>();

  async keep(userKey: string, key: string, receipt: Receipt, now: number) {
    const name = JSON.stringify([userKey, key]);
    const present = this.#kept.get(name);
    if (present !== undefined && now < present.keptAt + LIMITS.receiptMs) {
      return { kind: 'present', receipt: present.receipt } as const;
    }
    this.#kept.set(name, { receipt: { ...receipt }, keptAt: now });
    return { kind: 'kept' } as const;
  }
}
