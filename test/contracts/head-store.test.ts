import { SqliteHeadStore } from '../../adapters/sqlite/head-store.ts';
import { MemoryHeadStore } from '../doubles/memory-head-store.ts';
import { memoryGround, sqliteGround } from '../support/ground.ts';
import { headStoreContract } from './head-store.contract.ts';

headStoreContract('in memory', () => memoryGround(new MemoryHeadStore()));
headStoreContract('SQLite', () => sqliteGround((database) => new SqliteHeadStore(database)));
