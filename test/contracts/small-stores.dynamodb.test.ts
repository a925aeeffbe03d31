import { DynamoFront } from '../../adapters/dynamodb/front.ts';
import { DynamoHeadStore } from '../../adapters/dynamodb/head-store.ts';
import { DynamoReceiptStore } from '../../adapters/dynamodb/receipt-store.ts';
import { DynamoSettingsStore } from '../../adapters/dynamodb/settings-store.ts';
import { DynamoThreadStore } from '../../adapters/dynamodb/thread-store.ts';
import { DynamoUsageLedger } from '../../adapters/dynamodb/usage-ledger.ts';
import { DynamoUserTraces } from '../../adapters/dynamodb/user-traces.ts';
import { NO_TRACES, type TraceCounts } from '../../core/ports/user-traces.ts';
import { DEFAULT_SETTINGS } from '../../core/settings.ts';
import { FixedClock } from '../doubles/fixed-clock.ts';
import { tableGround } from '../support/dynalite.ts';
import type { Ground } from '../support/ground.ts';
import { NOW, sampleThread } from '../support/sample-state.ts';
import { headStoreContract } from './head-store.contract.ts';
import { receiptStoreContract } from './receipt-store.contract.ts';
import { settingsStoreContract } from './settings-store.contract.ts';
import { threadStoreContract } from './thread-store.contract.ts';
import { usageLedgerContract } from './usage-ledger.contract.ts';
import { type TracedStore, userTracesContract } from './user-traces.contract.ts';

/** The stores of one connection; head and settings share their front, as a reading function has them. */
const onTable = tableGround((table) => {
  const front = new DynamoFront(table);
  const stores = {
    threads: new DynamoThreadStore(table),
    heads: new DynamoHeadStore(table, front),
    settings: new DynamoSettingsStore(table, front),
    receipts: new DynamoReceiptStore(table),
    ledger: new DynamoUsageLedger(table, new FixedClock(NOW)),
  };
  const traced: TracedStore = { traces: new DynamoUserTraces(table), leave: (userKey) => leaveItems(stores, userKey) };
  return { ...stores, traced };
});

type Stores = Pick<
  ReturnType<ReturnType<typeof onTable>['connect']>['store'],
  'threads' | 'heads' | 'settings' | 'receipts' | 'ledger'
>;

threadStoreContract('DynamoDB', pick('threads'));
headStoreContract('DynamoDB', pick('heads'));
settingsStoreContract('DynamoDB', pick('settings'));
usageLedgerContract('DynamoDB', pick('ledger'));
userTracesContract('DynamoDB', pick('traced'));
receiptStoreContract('DynamoDB', async () => {
  const ground = pick('receipts')();
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

function pick<Name extends keyof ReturnType<ReturnType<typeof onTable>['connect']>['store']>(name: Name) {
  return (): Ground<ReturnType<ReturnType<typeof onTable>['connect']>['store'][Name]> => {
    const ground = onTable();
    return {
      connect() {
        const { store, close } = ground.connect();
        return { store: store[name], close };
      },
    };
  };
}

/** More items than one batch of deletions takes, and one of each other kind. */
async function leaveItems(stores: Stores, userKey: string): Promise<TraceCounts> {
  const ids = Array.from({ length: 30 }, (_, at) => `t${at}`);
  await Promise.all(ids.map((threadId) => stores.threads.update(userKey, threadId, () => sampleThread({ threadId }))));
  const call = { purpose: 'extraction', subject: 't', model: 'm', now: NOW, tokens: 1, dailyLimit: 9 } as const;
  await stores.heads.setFence(userKey, 'f');
  await stores.settings.write(userKey, DEFAULT_SETTINGS);
  await stores.receipts.keep(userKey, 'k', { fingerprint: 'f', answer: '{}' }, NOW);
  await stores.ledger.reserve(userKey, { ...call, callId: 'c' });
  return { ...NO_TRACES, items: ids.length + 4 };
}
