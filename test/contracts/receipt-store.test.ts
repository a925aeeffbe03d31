import { SqliteReceiptStore } from '../../adapters/sqlite/receipt-store.ts';
import { MemoryReceiptStore } from '../doubles/memory-receipt-store.ts';
import { sqliteGround } from '../support/ground.ts';
import { receiptStoreContract } from './receipt-store.contract.ts';

receiptStoreContract('in memory', async () => {
  const store = new MemoryReceiptStore();
  return { store, other: store, close: async () => {} };
});

receiptStoreContract('SQLite', async () => {
  const ground = sqliteGround((database) => new SqliteReceiptStore(database));
  const [one, two] = [ground.connect(), ground.connect()];
  return {
    store: one.store,
    other: two.store,
    close: async () => {
      one.close();
      two.close();
    },
  };
});
