import { InvalidInputError, UnavailableError } from '../../core/errors.ts';
import type { Receipt, ReceiptStore } from '../../core/ports/receipt-store.ts';
import { LIMITS } from '../../core/settings.ts';
import { utf8Length } from '../../core/text.ts';
import type { DynamoTable } from './dynamo-table.ts';
import { putReceipt, readReceipt, receiptKey } from './receipt-requests.ts';
import { newWriteId } from './write-id.ts';

/** Below an item's 400 KB. */
const MAX_ANSWER_BYTES = 350 * 1_024;
/** A try fails only where a receipt came or went between the write and the look. */
const MAX_TRIES = 4;

/** Receipts in DynamoDB, removed by their time to live; one that is over counts as absent before that. */
export class DynamoReceiptStore implements ReceiptStore {
  readonly #table: DynamoTable;

  constructor(table: DynamoTable) {
    this.#table = table;
  }

  async find(userKey: string, key: string, now: number): Promise<Receipt | undefined> {
    const item = await this.#table.get(receiptKey(userKey, key));
    const stored = item && readReceipt(item);
    return stored !== undefined && now < stored.keptAt + LIMITS.receiptMs ? stored.receipt : undefined;
  }

  /** @throws InvalidInputError `receipt.too_large`; UnavailableError `receipt.contended` */
  async keep(userKey: string, key: string, receipt: Receipt, now: number) {
    if (utf8Length(receipt.answer) > MAX_ANSWER_BYTES) {
      throw new InvalidInputError('receipt.too_large', 'the answer is too large to be kept for an idempotency key', {
        details: { limit: MAX_ANSWER_BYTES },
      });
    }
    const writeId = newWriteId();
    const put = putReceipt({ userKey, key }, receipt, now, writeId);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if ((await this.#table.put(put)) === 'done') return { kind: 'kept' } as const;
      const item = await this.#table.get(receiptKey(userKey, key));
      if (item === undefined) continue;
      const stored = readReceipt(item);
      if (stored.writeId === writeId) return { kind: 'kept' } as const; // the reply was lost
      if (now < stored.keptAt + LIMITS.receiptMs) return { kind: 'present', receipt: stored.receipt } as const;
    }
    throw new UnavailableError('receipt.contended', 'the receipt is changing too fast; try again');
  }
}
