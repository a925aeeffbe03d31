import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { FilesReplayStore } from '../../adapters/files/replay-store.ts';
import { replayKey, userPrefix } from '../../adapters/s3/keys.ts';
import { S3ReplayStore } from '../../adapters/s3/replay-store.ts';
import { S3UserTraces } from '../../adapters/s3/user-traces.ts';
import type { ReplayRef } from '../../core/ports/replay-store.ts';
import { LIMITS } from '../../core/settings.ts';
import { MemoryReplayStore } from '../doubles/memory-replay-store.ts';
import { FakeS3 } from '../support/fake-s3.ts';
import { replayStoreContract } from './replay-store.contract.ts';

const REF: ReplayRef = { epoch: 0, version: 7, createdAt: 1_700_000_000_123 };
const NAME = '0000000000-0000000007-1700000000123.json.gz';

replayStoreContract('in memory', async () => {
  const store = new MemoryReplayStore();
  return {
    store,
    second: store,
    damage: async (userKey) => {
      for (const kept of store.kept.get(userKey)?.values() ?? []) kept.text = null;
    },
    contents: async () => [...store.kept.values()].reduce((sum, users) => sum + users.size, 0),
    close: async () => {},
  };
});

replayStoreContract('files', async () => {
  const home = await mkdtemp(join(tmpdir(), 'stillroom-replays-'));
  return {
    store: new FilesReplayStore(home),
    second: new FilesReplayStore(home),
    damage: async (userKey, _ref, change) => {
      const file = join(home, 'users', userKey, 'replays', NAME);
      await writeFile(file, change(await readFile(file)));
    },
    contents: async () => (await readdir(home, { recursive: true })).filter((name) => name.endsWith('.gz')).length,
    close: () => rm(home, { recursive: true, force: true }),
  };
});

replayStoreContract('S3', async () => {
  const s3 = await FakeS3.start({ now: Date.now, pageSize: 3 });
  return {
    store: new S3ReplayStore(s3.client, 'memories'),
    second: new S3ReplayStore(s3.client, 'memories'),
    damage: async (userKey, ref, change) => {
      const object = s3.bucket('memories').find(replayKey(userKey, ref), undefined);
      object.body = change(object.body);
    },
    contents: async () => s3.bucket('memories').allVersions(undefined).length,
    close: async () => s3.close(),
  };
});

it('a record of a home is compressed and readable for its owner alone', async () => {
  const home = await mkdtemp(join(tmpdir(), 'stillroom-replays-'));
  await new FilesReplayStore(home).put('local', REF, 'a long text '.repeat(1_000));
  const found = await stat(join(home, 'replays', NAME));
  expect(found.mode & 0o777).toBe(0o600);
  expect(found.size).toBeLessThan(1_000);
  await rm(home, { recursive: true });
});

it('a record of a home that expands over any record is refused, not unpacked', async () => {
  const home = await mkdtemp(join(tmpdir(), 'stillroom-replays-'));
  const store = new FilesReplayStore(home);
  await store.put('local', REF, 'x');
  await writeFile(join(home, 'replays', NAME), gzipSync(Buffer.alloc(LIMITS.replayBytes + 1)));
  await expect(store.read('local', REF)).rejects.toMatchObject({ code: 'replay.unreadable' });
  await rm(home, { recursive: true });
});

it('an erase of the user takes every version of every record in S3 along', async () => {
  const s3 = await FakeS3.start({ now: Date.now });
  const store = new S3ReplayStore(s3.client, 'memories');
  for (const user of ['user1', 'user1', 'user10']) await store.put(user, REF, 'x');
  const traces = new S3UserTraces(s3.client, { bucket: 'memories', prefixOf: userPrefix });
  expect(await traces.erase('user1')).toMatchObject({ objects: 1, versions: 2 });
  expect(s3.bucket('memories').keys()).toEqual([`users/user10/replays/${NAME}`]);
  s3.close();
});

it('a record in S3 bears the tag that its lifecycle rule looks for', async () => {
  const s3 = await FakeS3.start({ now: Date.now });
  await new S3ReplayStore(s3.client, 'memories').put('user1', REF, 'x');
  expect(s3.bucket('memories').find(`users/user1/replays/${NAME}`, undefined).tagging).toBe('stillroom=replay');
  s3.close();
});
