import { SqliteDueIndex } from '../../adapters/sqlite/due-index.ts';
import { SqliteJobStore } from '../../adapters/sqlite/job-store.ts';
import { MemoryDueIndex } from '../doubles/memory-due-index.ts';
import { MemoryJobStore } from '../doubles/memory-job-store.ts';
import { StageOneTable } from '../doubles/stage-one-table.ts';
import { memoryGround, sqliteGround } from '../support/ground.ts';
import { dueIndexContract } from './due-index.contract.ts';

dueIndexContract('in memory', () => {
  const table = new StageOneTable();
  return memoryGround({ jobs: new MemoryJobStore(table), due: new MemoryDueIndex(table) });
});
dueIndexContract('SQLite', () =>
  sqliteGround((database) => ({ jobs: new SqliteJobStore(database), due: new SqliteDueIndex(database) })),
);
