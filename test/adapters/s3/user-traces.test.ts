import { CreateMultipartUploadCommand } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { rolloutsPrefix, userPrefix } from '../../../adapters/s3/keys.ts';
import { S3UserTraces } from '../../../adapters/s3/user-traces.ts';
import { NO_TRACES } from '../../../core/ports/user-traces.ts';
import { type TracedStore, userTracesContract } from '../../contracts/user-traces.contract.ts';
import { FakeS3 } from '../../support/fake-s3.ts';
import { s3Error, slowDown } from '../../support/fake-s3-errors.ts';
import type { Ground } from '../../support/ground.ts';

let s3: FakeS3;
let traces: S3UserTraces;
beforeEach(async () => {
  s3 = await FakeS3.start({ pageSize: 3 });
  traces = new S3UserTraces(s3.client, { bucket: 'rollouts', prefixOf: rolloutsPrefix });
});
afterEach(() => s3.close());

/** Two versions of one thread, a marker in front of them, another thread, and an upload that was never completed. */
async function leave(userKey: string): Promise<void> {
  const bucket = s3.bucket('rollouts');
  const key = `rollouts/${userKey}/t1.jsonl`;
  for (const body of ['one', 'two']) bucket.put(key, { body: Buffer.from(body) });
  bucket.delete(key, undefined);
  bucket.put(`rollouts/${userKey}/t2.jsonl`, { body: Buffer.from('x') });
  const upload = { Bucket: 'rollouts', Key: `rollouts/${userKey}/t3.jsonl` };
  await s3.client.send(new CreateMultipartUploadCommand(upload));
}

const LEFT = { objects: 3, versions: 5, items: 0 };

it('counts versions, delete markers and unfinished uploads of one user', async () => {
  for (const user of ['user1', 'user10', 'user']) await leave(user);
  expect(await traces.count('user1')).toEqual(LEFT);
  expect(await traces.count('nobody')).toEqual(NO_TRACES);
});

it('erases them all, and proves it by listing; nobody else loses anything', async () => {
  for (const user of ['user1', 'user10', 'user']) await leave(user);
  expect(await traces.erase('user1')).toEqual(LEFT);
  expect(await traces.count('user1')).toEqual(NO_TRACES);
  expect(s3.bucket('rollouts').allVersions('rollouts/user1/')).toEqual([]);
  for (const other of ['user10', 'user']) expect(await traces.count(other)).toEqual(LEFT);
  expect(await traces.erase('user1')).toEqual(NO_TRACES);
});

it('erases more than one DeleteObjects takes', async () => {
  s3.close();
  s3 = await FakeS3.start();
  traces = new S3UserTraces(s3.client, { bucket: 'rollouts', prefixOf: rolloutsPrefix });
  for (let at = 0; at < 2_001; at++) s3.bucket('rollouts').put(`rollouts/user1/${at}`, { body: new Uint8Array() });
  expect(await traces.erase('user1')).toMatchObject({ objects: 2_001, versions: 2_001 });
  expect(s3.count('DeleteObjects')).toBe(3);
});

it('ends with what is left when S3 refuses or fails, and goes on from there', async () => {
  await leave('user1');
  s3.refusedDeletes.add('rollouts/user1/t1.jsonl');
  await expect(traces.erase('user1')).rejects.toMatchObject({ code: 'traces.write_failed' });
  s3.refusedDeletes.clear();
  s3.failNext('DeleteObjects', { kind: 'lose-reply', error: slowDown() });
  await expect(traces.erase('user1')).rejects.toMatchObject({ code: 'traces.write_failed' });
  await traces.erase('user1');
  expect(await traces.count('user1')).toEqual(NO_TRACES);
  s3.failNext('ListObjectVersions', { kind: 'fail', error: s3Error('AccessDenied', 403) });
  await expect(traces.count('user1')).rejects.toMatchObject({ code: 'traces.read_failed' });
});

it('does not mind an upload that somebody gave up first', async () => {
  await leave('user1');
  s3.failNext('AbortMultipartUpload', { kind: 'fail', error: s3Error('NoSuchUpload', 404) });
  await traces.erase('user1');
  expect((await traces.count('user1')).versions).toBe(1);
  await traces.erase('user1');
  expect(await traces.count('user1')).toEqual(NO_TRACES);
});

it('never looks under a prefix that reaches beyond the user', async () => {
  const open = new S3UserTraces(s3.client, { bucket: 'rollouts', prefixOf: (userKey) => `rollouts/${userKey}` });
  await expect(open.erase('user1')).rejects.toMatchObject({ code: 'traces.open_prefix' });
  for (const call of [traces.erase(''), traces.count('')])
    await expect(call).rejects.toMatchObject({ code: 'traces.open_prefix' });
  expect(s3.calls).toEqual([]);
});

/** Both buckets' prefixes are of one form; the fake starts when it is first asked. */
function s3Ground(): Ground<TracedStore> {
  const starting = FakeS3.start({ pageSize: 4 });
  const tracesOn = async () => new S3UserTraces((await starting).client, { bucket: 'memories', prefixOf: userPrefix });
  const store: TracedStore = {
    traces: {
      count: async (userKey) => (await tracesOn()).count(userKey),
      erase: async (userKey) => (await tracesOn()).erase(userKey),
    },
    leave: async (userKey) => {
      const bucket = (await starting).bucket('memories');
      for (const path of ['memories/MEMORY.md', 'memories/MEMORY.md', 'manifests/0000000001.json'])
        bucket.put(`users/${userKey}/${path}`, { body: Buffer.from('x') });
      bucket.delete(`users/${userKey}/memories/MEMORY.md`, undefined);
      return { objects: 2, versions: 4, items: 0 };
    },
  };
  return { connect: () => ({ store, close: () => {} }) };
}

userTracesContract('S3', s3Ground);
