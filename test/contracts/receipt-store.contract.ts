import { describe, expect, it } from 'vitest';
import type { ReceiptStore } from '../../core/ports/receipt-store.ts';
import { LIMITS } from '../../core/settings.ts';

const FIRST = { fingerprint: 'f1', answer: '{"recorded":1,"text":"日本 \\u0000"}' };
const SECOND = { fingerprint: 'f2', answer: '{}' };
const NOW = 1_760_000_000_000;

/** Every receipt store keeps to this. @param open gives an empty store, and a second one on the same ground where there is one */
export function receiptStoreContract(
  name: string,
  open: () => Promise<{ store: ReceiptStore; other: ReceiptStore; close(): Promise<void> }>,
): void {
  describe(`receipt store: ${name}`, () => {
    const withStore = async (check: (store: ReceiptStore, other: ReceiptStore) => Promise<void>): Promise<void> => {
      const { store, other, close } = await open();
      try {
        await check(store, other);
      } finally {
        await close();
      }
    };

    it('keeps the first receipt of a key and shows it to later callers', () =>
      withStore(async (store, other) => {
        expect(await store.keep('u', 'k', FIRST, NOW)).toEqual({ kind: 'kept' });
        expect(await store.keep('u', 'k', SECOND, NOW + 1)).toEqual({ kind: 'present', receipt: FIRST });
        expect(await other.keep('u', 'k', SECOND, NOW + 2)).toEqual({ kind: 'present', receipt: FIRST });
      }));

    it('finds what it keeps, under its key and user only, for as long as it lives', () =>
      withStore(async (store, other) => {
        expect(await store.find('u', 'k', NOW)).toBeUndefined();
        await store.keep('u', 'k', FIRST, NOW);
        expect(await other.find('u', 'k', NOW + LIMITS.receiptMs - 1)).toEqual(FIRST);
        expect(await other.find('u', 'k', NOW + LIMITS.receiptMs)).toBeUndefined();
        expect(await store.find('u', 'k1', NOW)).toBeUndefined();
        expect(await store.find('u1', 'k', NOW)).toBeUndefined();
      }));

    it('lets exactly one of many concurrent callers act', () =>
      withStore(async (store, other) => {
        const calls = Array.from({ length: 16 }, (_, at) =>
          (at % 2 === 0 ? store : other).keep('u', 'k', { fingerprint: 'f', answer: String(at) }, NOW),
        );
        const answers = await Promise.all(calls);
        const winner = answers.findIndex((answer) => answer.kind === 'kept');
        expect(answers.filter((answer) => answer.kind === 'kept')).toHaveLength(1);
        for (const answer of answers) if (answer.kind === 'present') expect(answer.receipt.answer).toBe(String(winner));
      }));

    it('never shows a receipt to another user or under another key', () =>
      withStore(async (store) => {
        await store.keep('u', 'k', FIRST, NOW);
        for (const [user, key] of [
          ['u1', 'k'],
          ['u', 'k1'],
          ['u', 'K'],
          ['u', 'k '],
          ['uk', 'k'],
          ['U', 'k'],
        ] as const)
          expect(await store.keep(user, key, SECOND, NOW)).toEqual({ kind: 'kept' });
      }));

    it('forgets a receipt when its life is over, to the millisecond', () =>
      withStore(async (store) => {
        await store.keep('u', 'k', FIRST, NOW);
        const last = NOW + LIMITS.receiptMs - 1;
        expect(await store.keep('u', 'k', SECOND, last)).toEqual({ kind: 'present', receipt: FIRST });
        expect(await store.keep('u', 'k', SECOND, last + 1)).toEqual({ kind: 'kept' });
        expect(await store.keep('u', 'k', FIRST, last + 2)).toEqual({ kind: 'present', receipt: SECOND });
      }));
  });
}
