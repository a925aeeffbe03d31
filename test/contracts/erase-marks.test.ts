import { SqliteEraseMarks } from '../../adapters/sqlite/erase-marks.ts';
import { MemoryEraseMarks } from '../doubles/memory-erase-marks.ts';
import { memoryGround, sqliteGround } from '../support/ground.ts';
import { eraseMarksContract } from './erase-marks.contract.ts';

eraseMarksContract('in memory', () => memoryGround(new MemoryEraseMarks()));
eraseMarksContract('SQLite', () => sqliteGround((database) => new SqliteEraseMarks(database)));
