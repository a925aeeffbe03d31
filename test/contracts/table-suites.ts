import type { BodyShelf } from '../../adapters/dynamodb/body-shelf.ts';
import { DynamoDueIndex } from '../../adapters/dynamodb/due-index.ts';
import type { DynamoTable } from '../../adapters/dynamodb/dynamo-table.ts';
import { DynamoEraseMarks } from '../../adapters/dynamodb/erase-marks.ts';
import { DynamoFront } from '../../adapters/dynamodb/front.ts';
import { DynamoHeadStore } from '../../adapters/dynamodb/head-store.ts';
import { DynamoJobStore } from '../../adapters/dynamodb/job-store.ts';
import { DynamoReceiptStore } from '../../adapters/dynamodb/receipt-store.ts';
import { DynamoSettingsStore } from '../../adapters/dynamodb/settings-store.ts';
import { DynamoStageOneStore } from '../../adapters/dynamodb/stage-one-store.ts';
import { DynamoStepRunner } from '../../adapters/dynamodb/step-runner.ts';
import { SORT_KEYS, userPartition } from '../../adapters/dynamodb/table.ts';
import { DynamoThreadStore } from '../../adapters/dynamodb/thread-store.ts';
import { DynamoUsageLedger } from '../../adapters/dynamodb/usage-ledger.ts';
import { DynamoUserTraces } from '../../adapters/dynamodb/user-traces.ts';
import { NO_TRACES, type TraceCounts } from '../../core/ports/user-traces.ts';
import { DEFAULT_SETTINGS } from '../../core/settings.ts';
import { FixedClock } from '../doubles/fixed-clock.ts';
import type { TableGround } from '../support/dynalite.ts';
import type { Ground } from '../support/ground.ts';
import { NOW, sampleThread } from '../support/sample-state.ts';
import { dueIndexContract } from './due-index.contract.ts';
import { eraseMarksContract } from './erase-marks.contract.ts';
import { headStoreContract } from './head-store.contract.ts';
import { jobStoreContract } from './job-store.contract.ts';
import { receiptStoreContract } from './receipt-store.contract.ts';
import { settingsStoreContract } from './settings-store.contract.ts';
import { stageOneStoreContract } from './stage-one-store.contract.ts';
import { stepRunnerContract } from './step-runner.contract.ts';
import { threadStoreContract } from './thread-store.contract.ts';
import { usageLedgerContract } from './usage-ledger.contract.ts';
import { type TracedStore, userTracesContract } from './user-traces.contract.ts';

/** The contracts of jobs and their outputs, on any table. @param shelf where large texts lie */
export function jobSuites(name: string, tableGround: TableGround, shelf: BodyShelf): void {
  const onTable = tableGround((table) => ({
    jobs: new DynamoJobStore(table),
    outputs: new DynamoStageOneStore(table, shelf),
    due: new DynamoDueIndex(table),
  }));
  jobStoreContract(name, onTable);
  stageOneStoreContract(name, onTable);
  dueIndexContract(name, onTable);
  const steps = tableGround((table) => new DynamoStepRunner(table, 'u1', new FixedClock(NOW)));
  stepRunnerContract(name, steps, { checkpoints: true });
}

/** The contracts of the small stores, on any table. */
export function smallStoreSuites(name: string, tableGround: TableGround): void {
  const onTable = tableGround(smallStores);
  const pick =
    <Name extends keyof SmallStores>(store: Name) =>
    (): Ground<SmallStores[Name]> =>
      groundOf(onTable(), store);
  threadStoreContract(name, pick('threads'));
  headStoreContract(name, pick('heads'));
  settingsStoreContract(name, pick('settings'));
  eraseMarksContract(name, pick('marks'));
  usageLedgerContract(name, pick('ledger'));
  userTracesContract(name, pick('traced'));
  receiptStoreContract(name, async () => {
    const ground = onTable();
    const [one, two] = [ground.connect(), ground.connect()];
    return {
      store: one.store.receipts,
      other: two.store.receipts,
      close: async () => {
        one.close();
        two.close();
      },
    };
  });
}

type SmallStores = ReturnType<typeof smallStores>;

/** The stores of one connection; head and settings share their front, as a reading function has them. */
function smallStores(table: DynamoTable) {
  const front = new DynamoFront(table);
  const stores = {
    threads: new DynamoThreadStore(table),
    heads: new DynamoHeadStore(table, front),
    settings: new DynamoSettingsStore(table, front),
    receipts: new DynamoReceiptStore(table),
    marks: new DynamoEraseMarks(table),
    ledger: new DynamoUsageLedger(table, new FixedClock(NOW)),
  };
  const traced: TracedStore = {
    traces: new DynamoUserTraces(table),
    leave: (userKey) => leaveItems(table, stores, userKey),
  };
  return { ...stores, traced };
}

function groundOf<Name extends keyof SmallStores>(ground: Ground<SmallStores>, name: Name): Ground<SmallStores[Name]> {
  return {
    connect() {
      const { store, close } = ground.connect();
      return { store: store[name], close };
    },
  };
}

/** More items than one batch of deletions takes, and one of each kind. */
async function leaveItems(
  table: DynamoTable,
  stores: Omit<SmallStores, 'traced'>,
  userKey: string,
): Promise<TraceCounts> {
  const texts = Array.from({ length: 26 }, (_, at) => ({ pk: userPartition(userKey), sk: SORT_KEYS.body('t', at) }));
  await Promise.all(texts.map((Item) => table.put({ Item })));
  const call = { purpose: 'extraction', subject: 't', model: 'm', now: NOW, tokens: 1, dailyLimit: 9 } as const;
  await stores.threads.update(userKey, 't', () => sampleThread({ threadId: 't' }));
  await stores.heads.setFence(userKey, 'f');
  await stores.settings.write(userKey, DEFAULT_SETTINGS);
  await stores.receipts.keep(userKey, 'k', { fingerprint: 'f', answer: '{}' }, NOW);
  await stores.ledger.reserve(userKey, { ...call, callId: 'c' });
  return { ...NO_TRACES, items: texts.length + 5 };
}
