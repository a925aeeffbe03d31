import type { Receipt, ReceiptStore } from '../../core/ports/receipt-store.ts';
import { LIMITS } from '../../core/settings.ts';
import type { Database } from './database.ts';

/** Receipts in SQLite. */
export class SqliteReceiptStore implements ReceiptStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find(userKey: string, key: string, now: number): Promise<Receipt | undefined> {
    const sql = 'SELECT fingerprint, answer FROM receipts WHERE user_key = ? AND key = ? AND kept_at > ?';
    const row = this.#database.one('receipts', sql, userKey, key, now - LIMITS.receiptMs);
    return row && { fingerprint: row.text('fingerprint'), answer: row.text('answer') };
  }

  async keep(userKey: string, key: string, receipt: Receipt, now: number) {
    return this.#database.change(() => {
      this.#database.run('DELETE FROM receipts WHERE user_key = ? AND kept_at <= ?', userKey, now - LIMITS.receiptMs);
      const sql = 'SELECT fingerprint, answer FROM receipts WHERE user_key = ? AND key = ?';
      const row = this.#database.one('receipts', sql, userKey, key);
      if (row !== undefined) {
        const present: Receipt = { fingerprint: row.text('fingerprint'), answer: row.text('answer') };
        return { kind: 'present', receipt: present } as const;
      }
      this.#database.run(
        'INSERT INTO receipts (user_key, key, kept_at, fingerprint, answer) VALUES (?, ?, ?, ?, ?)',
        userKey,
        key,
        now,
        receipt.fingerprint,
        receipt.answer,
      );
      return { kind: 'kept' } as const;
    });
  }
}
