import { SqliteUsageLedger } from '../../adapters/sqlite/usage-ledger.ts';
import { FixedClock } from '../doubles/fixed-clock.ts';
import { MemoryUsageLedger } from '../doubles/memory-usage-ledger.ts';
import { memoryGround, sqliteGround } from '../support/ground.ts';
import { NOW } from '../support/sample-state.ts';
import { usageLedgerContract } from './usage-ledger.contract.ts';

usageLedgerContract('in memory', () => memoryGround(new MemoryUsageLedger()));
usageLedgerContract('SQLite', () => sqliteGround((database) => new SqliteUsageLedger(database, new FixedClock(NOW))));
