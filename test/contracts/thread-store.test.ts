import { SqliteThreadStore } from '../../adapters/sqlite/thread-store.ts';
import { MemoryThreadStore } from '../doubles/memory-thread-store.ts';
import { memoryGround, sqliteGround } from '../support/ground.ts';
import { threadStoreContract } from './thread-store.contract.ts';

threadStoreContract('in memory', () => memoryGround(new MemoryThreadStore()));
threadStoreContract('SQLite', () => sqliteGround((database) => new SqliteThreadStore(database)));
