import { S3Client } from '@aws-sdk/client-s3';
import { objectClientConfig } from '../../adapters/s3/client.ts';
import { manifestKey, memoryKey } from '../../adapters/s3/keys.ts';
import { S3MemoryStore } from '../../adapters/s3/memory-store.ts';
import { S3RolloutStore } from '../../adapters/s3/rollout-store.ts';
import { memoryStoreContract } from '../contracts/memory-store.contract.ts';
import { ROLLOUT_LIMIT, rolloutStoreContract } from '../contracts/rollout-store.contract.ts';
import { RecordingTelemetry } from '../doubles/recording-telemetry.ts';
import { FakeS3 } from './fake-s3.ts';
import { startS3Server } from './s3-server.ts';

/** The same stores, with their own client and over the wire: what the SDK makes of requests and answers is in it. */
async function openWire(): Promise<{ fake: FakeS3; client: S3Client; close: () => Promise<void> }> {
  const fake = await FakeS3.start({ pageSize: 2 });
  const server = await startS3Server(fake);
  const client = new S3Client({
    ...objectClientConfig(),
    region: 'eu-central-1',
    endpoint: server.url,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  const close = async (): Promise<void> => {
    client.destroy();
    await server.close();
    fake.close();
  };
  return { fake, client, close };
}

rolloutStoreContract('S3 over the wire', async () => {
  const { client, close } = await openWire();
  const open = () => new S3RolloutStore(client, 'rollouts', { limitBytes: ROLLOUT_LIMIT });
  return { store: open(), second: open(), keepsHints: true, close };
});

memoryStoreContract('S3 over the wire', async () => {
  const { fake, client, close } = await openWire();
  const open = () => new S3MemoryStore(client, 'memories', new RecordingTelemetry(), { orphanGraceMs: -1_000 });
  const damage = (key: string, versionId: string | undefined) => {
    fake.bucket('memories').find(key, versionId).body = Buffer.from('{"version":');
  };
  return {
    store: open(),
    second: open(),
    damageContent: async (userKey, path, entry) => damage(memoryKey(userKey, path), entry.versionId),
    damageManifest: async (userKey, version) => damage(manifestKey(userKey, version), undefined),
    close,
  };
});
