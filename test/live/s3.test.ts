import {
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, it } from 'vitest';
import { S3BodyShelf } from '../../adapters/s3/body-shelf.ts';
import { manifestKey, memoryKey, replayKey, rolloutsPrefix, userPrefix } from '../../adapters/s3/keys.ts';
import { S3MemoryStore } from '../../adapters/s3/memory-store.ts';
import { S3UploadSigner } from '../../adapters/s3/presign-upload.ts';
import { PART_BYTES } from '../../adapters/s3/put-stream.ts';
import { S3ReplayStore } from '../../adapters/s3/replay-store.ts';
import { S3RolloutStore } from '../../adapters/s3/rollout-store.ts';
import { S3UserTraces } from '../../adapters/s3/user-traces.ts';
import { sha256Hex } from '../../core/ids.ts';
import { NO_TRACES } from '../../core/ports/user-traces.ts';
import { NO_HINTS } from '../../core/thread/thread.ts';
import { bodyShelfContract } from '../contracts/body-shelf.contract.ts';
import { memoryStoreContract } from '../contracts/memory-store.contract.ts';
import { replayStoreContract } from '../contracts/replay-store.contract.ts';
import { chunksOf, ROLLOUT_LIMIT, readAll, rolloutStoreContract } from '../contracts/rollout-store.contract.ts';
import { uploadSignerContract } from '../contracts/upload-signer.contract.ts';
import { type TracedStore, userTracesContract } from '../contracts/user-traces.contract.ts';
import { RecordingTelemetry } from '../doubles/recording-telemetry.ts';
import type { Ground } from '../support/ground.ts';
import { liveBuckets } from '../support/live-buckets.ts';
import { probeObjectStore } from '../support/probe-object-store.ts';

/** The endpoint needs an IP address, or a name that resolves with a bucket's name in front of it. */
const { client, make: makeBucket } = liveBuckets();
beforeAll(async () => probeObjectStore(client, await makeBucket()));

bodyShelfContract('S3 over the wire', async () => new S3BodyShelf(client, await makeBucket()));
uploadSignerContract('S3 over the wire', async () => new S3UploadSigner(client, 'rollouts'));
userTracesContract('S3 over the wire', tracesGround);

replayStoreContract('S3 over the wire', async () => {
  const Bucket = await makeBucket();
  const open = () => new S3ReplayStore(client, Bucket);
  return {
    store: open(),
    second: open(),
    damage: async (userKey, ref, change) => {
      const place = { Bucket, Key: replayKey(userKey, ref) };
      const { Body, VersionId } = await client.send(new GetObjectCommand(place));
      const body = change((await Body?.transformToByteArray()) ?? new Uint8Array());
      await client.send(new DeleteObjectCommand({ ...place, VersionId }));
      await client.send(new PutObjectCommand({ ...place, Body: body }));
    },
    contents: async () => {
      const { Versions, DeleteMarkers } = await client.send(new ListObjectVersionsCommand({ Bucket }));
      return (Versions?.length ?? 0) + (DeleteMarkers?.length ?? 0);
    },
    close: async () => {},
  };
});

rolloutStoreContract('S3 over the wire', async () => {
  const bucket = await makeBucket();
  const open = () => new S3RolloutStore(client, bucket, { limitBytes: ROLLOUT_LIMIT });
  return { store: open(), second: open(), keepsHints: true, close: async () => {} };
});

memoryStoreContract('S3 over the wire', async () => {
  const Bucket = await makeBucket();
  const open = () => new S3MemoryStore(client, Bucket, new RecordingTelemetry(), { orphanGraceMs: -2_000 });
  return {
    store: open(),
    second: open(),
    // A stored version cannot be changed over the wire: the worst that can happen to it is that it goes.
    damageContent: async (userKey, path, { versionId }) => {
      const version = { Bucket, Key: memoryKey(userKey, path), VersionId: versionId };
      await client.send(new DeleteObjectCommand(version));
    },
    damageManifest: async (userKey, version) => {
      const Key = manifestKey(userKey, version);
      await client.send(new PutObjectCommand({ Bucket, Key, Body: '{"version":' }));
    },
    close: async () => {},
  };
});

describe('S3 over the wire', () => {
  it('takes a stream in parts', async () => {
    const store = new S3RolloutStore(client, await makeBucket());
    const large = Buffer.alloc(2 * PART_BYTES + 5, 'abc');
    const hints = { ...NO_HINTS, cwd: '/a b' };
    await store.put('user1', 't1', chunksOf(large, 1_000_000), 'p', 1, hints);
    expect((await readAll(await store.open('user1', 't1'))).equals(large)).toBe(true);
    expect(await store.look('user1', 't1')).toMatchObject({ rollout: { bytes: large.length }, hints });
  });

  it('takes a presigned upload as it was signed', async () => {
    const bucket = await makeBucket();
    const body = '{"a":1}\n';
    const hints = { ...NO_HINTS, cwd: '/a b/é', ended: true };
    const upload = { bytes: body.length, sha256: sha256Hex(body), hints, now: Date.now() };
    const { method, url, headers } = await new S3UploadSigner(client, bucket).sign('user1', 't1', upload);
    expect((await fetch(url, { method, headers, body })).status).toBe(200);
    expect(await new S3RolloutStore(client, bucket).look('user1', 't1')).toMatchObject({
      rollout: { sha256: upload.sha256, bytes: body.length },
      hints,
    });
  });

  it('keeps large bodies, and counts and erases what is left of a user', async () => {
    const bucket = await makeBucket();
    const shelf = new S3BodyShelf(client, bucket);
    const ref = { threadId: 't1', sourceUpdatedAt: 5 };
    for (const user of ['user1', 'user10']) {
      for (const byte of [1, 2]) await shelf.put(user, ref, new Uint8Array([byte]));
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: memoryKey(user, 'a.md'), Body: 'x' }));
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: memoryKey(user, 'a.md') }));
      await client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: memoryKey(user, 'b.md') }));
    }
    expect([...((await shelf.get('user1', ref)) ?? [])]).toEqual([2]);
    expect(await shelf.list('user1')).toEqual([ref]);
    const traces = new S3UserTraces(client, { bucket, prefixOf: userPrefix });
    const left = { objects: 3, versions: 5, items: 0 };
    expect(await traces.erase('user1')).toEqual(left);
    expect(await traces.count('user1')).toEqual(NO_TRACES);
    expect(await traces.count('user10')).toEqual(left);
    await shelf.remove('user10', ref);
    expect(await traces.count('user10')).toEqual({ objects: 2, versions: 3, items: 0 });
  });

  it('pages through more versions than one listing holds', async () => {
    const bucket = await makeBucket();
    const keys = Array.from({ length: 50 }, (_, at) => ({ Key: `rollouts/user1/${at}` }));
    await Promise.all(keys.map((key) => client.send(new PutObjectCommand({ Bucket: bucket, ...key, Body: 'x' }))));
    const hide = { Bucket: bucket, Delete: { Objects: keys, Quiet: true } };
    for (let round = 0; round < 20; round++) await client.send(new DeleteObjectsCommand(hide));
    const traces = new S3UserTraces(client, { bucket, prefixOf: rolloutsPrefix });
    expect(await traces.count('user1')).toEqual({ objects: 50, versions: 1_050, items: 0 });
    expect(await traces.erase('user1')).toEqual({ objects: 50, versions: 1_050, items: 0 });
  });
});

/** A bucket of its own, which is still being made when the ground is there. */
function tracesGround(): Ground<TracedStore> {
  const making = makeBucket();
  const tracesOn = async () => new S3UserTraces(client, { bucket: await making, prefixOf: userPrefix });
  const store: TracedStore = {
    traces: {
      count: async (userKey) => (await tracesOn()).count(userKey),
      erase: async (userKey) => (await tracesOn()).erase(userKey),
    },
    leave: async (userKey) => {
      const Bucket = await making;
      for (const Key of [memoryKey(userKey, 'a.md'), memoryKey(userKey, 'a.md'), manifestKey(userKey, 1)])
        await client.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
      await client.send(new DeleteObjectCommand({ Bucket, Key: memoryKey(userKey, 'a.md') }));
      return { objects: 2, versions: 4, items: 0 };
    },
  };
  return { connect: () => ({ store, close: () => {} }) };
}
