import { SqliteSettingsStore } from '../../adapters/sqlite/settings-store.ts';
import { MemorySettingsStore } from '../doubles/memory-settings-store.ts';
import { memoryGround, sqliteGround } from '../support/ground.ts';
import { settingsStoreContract } from './settings-store.contract.ts';

settingsStoreContract('in memory', () => memoryGround(new MemorySettingsStore()));
settingsStoreContract('SQLite', () => sqliteGround((database) => new SqliteSettingsStore(database)));
