import { SqliteJobStore } from '../../adapters/sqlite/job-store.ts';
import { SqliteStageOneStore } from '../../adapters/sqlite/stage-one-store.ts';
import { MemoryJobStore } from '../doubles/memory-job-store.ts';
import { MemoryStageOneStore } from '../doubles/memory-stage-one-store.ts';
import { StageOneTable } from '../doubles/stage-one-table.ts';
import { memoryGround, sqliteGround } from '../support/ground.ts';
import { jobStoreContract } from './job-store.contract.ts';
import { stageOneStoreContract } from './stage-one-store.contract.ts';

const inMemory = () => {
  const table = new StageOneTable();
  return memoryGround({ jobs: new MemoryJobStore(table), outputs: new MemoryStageOneStore(table) });
};
const inSqlite = () =>
  sqliteGround((database) => ({ jobs: new SqliteJobStore(database), outputs: new SqliteStageOneStore(database) }));

jobStoreContract('in memory', inMemory);
jobStoreContract('SQLite', inSqlite);
stageOneStoreContract('in memory', inMemory);
stageOneStoreContract('SQLite', inSqlite);
