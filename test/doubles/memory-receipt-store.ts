import type { Receipt, ReceiptStore } from '../../core/ports/receipt-store.ts';
import { LIMITS } from '../../core/settings.ts';

/** Receipts held in memory. */
export class MemoryReceiptStore implements ReceiptStore {
  readonly #kept = new Map<string, { receipt: Receipt; keptAt: number }>();

  async find(userKey: string, key: string, now: number): Promise<Receipt | undefined> {
    const present = this.#kept.get(JSON.stringify([userKey, key]));
    return present !== undefined && now < present.keptAt + LIMITS.receiptMs ? present.receipt : undefined;
  }

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
