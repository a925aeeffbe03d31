import { afterEach, beforeEach, expect, it } from 'vitest';
import { S3BodyShelf } from '../../../adapters/s3/body-shelf.ts';
import { FakeS3 } from '../../support/fake-s3.ts';
import { slowDown } from '../../support/fake-s3-errors.ts';

const REF = { threadId: 't1', sourceUpdatedAt: 5 };
const bytes = (text: string) => new TextEncoder().encode(text);
let s3: FakeS3;
let shelf: S3BodyShelf;
beforeEach(async () => {
  s3 = await FakeS3.start({ pageSize: 2 });
  shelf = new S3BodyShelf(s3.client, 'memories');
});
afterEach(() => s3.close());

it('gives back what was put last, and nothing of another snapshot or user', async () => {
  await shelf.put('user1', REF, bytes('one'));
  await shelf.put('user1', REF, bytes('two'));
  expect(Buffer.from((await shelf.get('user1', REF)) ?? []).toString()).toBe('two');
  expect(await shelf.get('user1', { ...REF, sourceUpdatedAt: 6 })).toBeUndefined();
  expect(await shelf.get('user10', REF)).toBeUndefined();
  expect(s3.openBodies()).toBe(0);
});

it('removes every version, of this snapshot only, and minds no repetition', async () => {
  for (const text of ['one', 'two', 'three']) await shelf.put('user1', REF, bytes(text));
  await shelf.put('user1', { ...REF, sourceUpdatedAt: 50 }, bytes('kept'));
  await shelf.remove('user1', REF);
  await shelf.remove('user1', REF);
  expect(s3.bucket('memories').allVersions()).toHaveLength(1);
  expect(await shelf.list('user1')).toEqual([{ ...REF, sourceUpdatedAt: 50 }]);
});

it('lists a user page by page, and passes over what is no body', async () => {
  const refs = ['a', 'b', 'c'].flatMap((threadId) => [1, 20].map((sourceUpdatedAt) => ({ threadId, sourceUpdatedAt })));
  for (const ref of refs) await shelf.put('user1', ref, bytes('x'));
  await shelf.put('user10', REF, bytes('x'));
  s3.bucket('memories').put('users/user1/bodies/stray', { body: bytes('x') });
  expect(await shelf.list('user1')).toEqual(refs);
  expect(await shelf.list('nobody')).toEqual([]);
});

it('is unavailable where S3 fails', async () => {
  for (const command of ['PutObject', 'GetObject', 'ListObjectVersions', 'ListObjectsV2'])
    s3.failNext(command, { kind: 'fail', error: slowDown() });
  await expect(shelf.put('u', REF, bytes('x'))).rejects.toMatchObject({ code: 'memory.write_failed' });
  await expect(shelf.get('u', REF)).rejects.toMatchObject({ code: 'memory.read_failed' });
  await expect(shelf.remove('u', REF)).rejects.toMatchObject({ code: 'memory.write_failed' });
  await expect(shelf.list('u')).rejects.toMatchObject({ code: 'memory.read_failed' });
});
