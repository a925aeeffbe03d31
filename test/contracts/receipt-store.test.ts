import { MemoryReceiptStore } from '../doubles/memory-receipt-store.ts';
import { receiptStoreContract } from './receipt-store.contract.ts';

receiptStoreContract('in memory', async () => {
  const store = new MemoryReceiptStore();
  return { store, other: store, close: async () => {} };
});
