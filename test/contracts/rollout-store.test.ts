import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FilesRolloutStore } from '../../adapters/files/rollout-store.ts';
import { MemoryRolloutStore } from '../doubles/memory-rollout-store.ts';
import { ROLLOUT_LIMIT, rolloutStoreContract } from './rollout-store.contract.ts';

rolloutStoreContract('in memory', async () => {
  const store = new MemoryRolloutStore(ROLLOUT_LIMIT);
  return { store, second: store, close: async () => {} };
});

rolloutStoreContract('files', async () => {
  const home = await mkdtemp(join(tmpdir(), 'stillroom-rollouts-'));
  return {
    store: new FilesRolloutStore(home, { limitBytes: ROLLOUT_LIMIT }),
    second: new FilesRolloutStore(home, { limitBytes: ROLLOUT_LIMIT }),
    close: () => rm(home, { recursive: true, force: true }),
  };
});
