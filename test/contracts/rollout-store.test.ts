import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FilesRolloutStore } from '../../adapters/files/rollout-store.ts';
import { S3RolloutStore } from '../../adapters/s3/rollout-store.ts';
import { MemoryRolloutStore } from '../doubles/memory-rollout-store.ts';
import { FakeS3 } from '../support/fake-s3.ts';
import { ROLLOUT_LIMIT, rolloutStoreContract } from './rollout-store.contract.ts';

rolloutStoreContract('in memory', async () => {
  const store = new MemoryRolloutStore(ROLLOUT_LIMIT);
  return { store, second: store, keepsHints: true, close: async () => {} };
});

rolloutStoreContract('files', async () => {
  const home = await mkdtemp(join(tmpdir(), 'stillroom-rollouts-'));
  return {
    store: new FilesRolloutStore(home, { limitBytes: ROLLOUT_LIMIT }),
    second: new FilesRolloutStore(home, { limitBytes: ROLLOUT_LIMIT }),
    keepsHints: false,
    close: () => rm(home, { recursive: true, force: true }),
  };
});

rolloutStoreContract('S3', async () => {
  const s3 = await FakeS3.start({ pageSize: 2 });
  const open = () => new S3RolloutStore(s3.client, 'rollouts', { limitBytes: ROLLOUT_LIMIT });
  return { store: open(), second: open(), keepsHints: true, close: async () => s3.close() };
});
