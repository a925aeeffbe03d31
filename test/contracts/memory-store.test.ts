import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FilesMemoryStore } from '../../adapters/files/memory-store.ts';
import { manifestKey, memoryKey } from '../../adapters/s3/keys.ts';
import { S3MemoryStore } from '../../adapters/s3/memory-store.ts';
import { MemoryMemoryStore } from '../doubles/memory-memory-store.ts';
import { RecordingTelemetry } from '../doubles/recording-telemetry.ts';
import { FakeS3 } from '../support/fake-s3.ts';
import { memoryStoreContract } from './memory-store.contract.ts';

memoryStoreContract('in memory', async () => {
  const store = new MemoryMemoryStore();
  return {
    store,
    second: store,
    damageContent: async (userKey, _path, entry) => {
      store.shelf(userKey).contents.set(entry.versionId, new Uint8Array([1]));
    },
    damageManifest: async (userKey, version) => {
      store.shelf(userKey).manifests.set(version, '{"version":');
    },
    close: async () => {},
  };
});

/** Below zero, so that what was stored in this very moment counts as old. */
const NO_GRACE = { orphanGraceMs: -1_000 };

memoryStoreContract('files', async () => {
  const home = await mkdtemp(join(tmpdir(), 'stillroom-memory-'));
  const versions = (userKey: string) => join(userKey === 'local' ? home : join(home, 'users', userKey), 'versions');
  return {
    store: new FilesMemoryStore(home, NO_GRACE),
    second: new FilesMemoryStore(home, NO_GRACE),
    damageContent: async (userKey, _path, entry) => {
      await writeFile(join(versions(userKey), 'objects', entry.sha256.slice(0, 2), entry.sha256), 'damaged');
    },
    damageManifest: async (userKey, version) => {
      await writeFile(join(versions(userKey), 'manifests', `${String(version).padStart(10, '0')}.json`), '{"version":');
    },
    close: () => rm(home, { recursive: true, force: true }),
  };
});

memoryStoreContract('S3', async () => {
  const s3 = await FakeS3.start({ now: Date.now, pageSize: 3 });
  const open = () => new S3MemoryStore(s3.client, 'memories', new RecordingTelemetry(), NO_GRACE);
  const damage = (key: string, versionId: string | undefined) => {
    s3.bucket('memories').find(key, versionId).body = new TextEncoder().encode('{"version":');
  };
  return {
    store: open(),
    second: open(),
    damageContent: async (userKey, path, entry) => damage(memoryKey(userKey, path), entry.versionId),
    damageManifest: async (userKey, version) => damage(manifestKey(userKey, version), undefined),
    close: async () => s3.close(),
  };
});
