import { SqliteStepRunner } from '../../adapters/sqlite/step-runner.ts';
import { DirectStepRunner } from '../../adapters/system/direct-step-runner.ts';
import { FixedClock } from '../doubles/fixed-clock.ts';
import { MemoryStepRunner } from '../doubles/memory-step-runner.ts';
import { memoryGround, sqliteGround } from '../support/ground.ts';
import { NOW } from '../support/sample-state.ts';
import { stepRunnerContract } from './step-runner.contract.ts';

stepRunnerContract('in memory', () => memoryGround(new MemoryStepRunner()), { checkpoints: true });
stepRunnerContract('direct', () => memoryGround(new DirectStepRunner()), { checkpoints: false });
stepRunnerContract('SQLite', () => sqliteGround((database) => new SqliteStepRunner(database, new FixedClock(NOW))), {
  checkpoints: true,
});
