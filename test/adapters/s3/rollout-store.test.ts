import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PART_BYTES } from '../../../adapters/s3/put-stream.ts';
import { S3RolloutStore } from '../../../adapters/s3/rollout-store.ts';
import { UnavailableError } from '../../../core/errors.ts';
import { sha256Hex } from '../../../core/ids.ts';
import { NO_HINTS } from '../../../core/thread/thread.ts';
import { chunksOf, readAll } from '../../contracts/rollout-store.contract.ts';
import { FakeS3 } from '../../support/fake-s3.ts';
import { connectionReset, s3Error, slowDown } from '../../support/fake-s3-errors.ts';

const KEY = 'rollouts/user1/t1.jsonl';
const MARKER = 'unspeakable-content';
let s3: FakeS3;
let store: S3RolloutStore;

beforeEach(async () => {
  s3 = await FakeS3.start({ pageSize: 2 });
  store = new S3RolloutStore(s3.client, 'rollouts');
});
afterEach(() => s3.close());

const put = (content: AsyncIterable<Uint8Array> = chunksOf(Buffer.from(MARKER)), threadId = 't1') =>
  store.put('user1', threadId, content, 'p', 1);
const unavailable = (code: string) =>
  expect.toSatisfy(
    (error) =>
      error instanceof UnavailableError &&
      error.code === code &&
      !`${JSON.stringify(error.details)}${error.message}${String(error.cause)}`.includes(MARKER),
  );

describe('an upload of unknown length', () => {
  it('is one checked object while it fits into a part', async () => {
    await put(chunksOf(Buffer.alloc(PART_BYTES, 'x'), 3_000_000));
    expect(s3.calls.map((call) => call.command)).toEqual(['PutObject']);
    expect(s3.bucket('rollouts').current(KEY)?.checksumSha256).toBeDefined();
  });

  it('goes up in parts of 8 MB when it is larger, and is seen only when all of it is there', async () => {
    const large = Buffer.alloc(2 * PART_BYTES + 5, 'abc');
    const hints = { ...NO_HINTS, cwd: '/a' };
    let seenOnTheWay = 0;
    s3.faultFor = () => {
      seenOnTheWay += s3.bucket('rollouts').current(KEY) === undefined ? 0 : 1;
      return undefined;
    };
    const stored = await store.put('user1', 't1', chunksOf(large, 3_000_001), 'p', 1, hints);
    expect(stored).toMatchObject({ sha256: sha256Hex(large), bytes: large.length });
    expect(seenOnTheWay).toBe(0);
    expect(s3.calls.map((call) => call.command)).toEqual([
      'CreateMultipartUpload',
      ...Array.from({ length: 3 }, () => 'UploadPart'),
      'CompleteMultipartUpload',
    ]);
    expect((await readAll(await store.open('user1', 't1'))).equals(large)).toBe(true);
    expect(await store.look('user1', 't1')).toMatchObject({
      rollout: { sha256: expect.stringMatching(/^etag:[0-9a-f]{32}-3$/), bytes: large.length },
      hints,
    });
  });

  it.each([
    ['CreateMultipartUpload', 0],
    ['UploadPart', 1],
    ['CompleteMultipartUpload', 0],
  ])('leaves nothing behind when %s fails', async (command, skip) => {
    s3.failNext(command, { kind: 'fail', error: slowDown() }, skip);
    await expect(put(chunksOf(Buffer.alloc(PART_BYTES + 1), 100_000))).rejects.toEqual(
      unavailable('rollout.write_failed'),
    );
    expect(s3.bucket('rollouts').keys()).toEqual([]);
    expect(s3.uploads.of(s3.bucket('rollouts'))).toEqual([]);
  });

  it('gives up its parts when the stream breaks, and passes that failure on, even where giving up fails', async () => {
    const lost = new Error('connection lost');
    async function* breaking(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(2 * PART_BYTES);
      throw lost;
    }
    await expect(put(breaking())).rejects.toBe(lost);
    expect(s3.uploads.of(s3.bucket('rollouts'))).toEqual([]);
    s3.failNext('AbortMultipartUpload', { kind: 'fail', error: slowDown() });
    await expect(put(breaking())).rejects.toBe(lost);
  });

  it('takes chunks whose buffer the source uses again', async () => {
    async function* reusing(): AsyncGenerator<Uint8Array> {
      const buffer = Buffer.alloc(1);
      for (const letter of 'abc') {
        buffer.write(letter);
        yield buffer;
      }
    }
    await put(reusing());
    expect((await readAll(await store.open('user1', 't1'))).toString()).toBe('abc');
  });
});

describe('sockets (C30)', () => {
  it('are not held by 200 looks, nor by a reader that stops early', async () => {
    await put(chunksOf(Buffer.alloc(1_000_000, 'x'), 100_000));
    s3.calls.length = 0;
    for (let at = 0; at < 200; at++) await store.look('user1', 't1');
    expect(new Set(s3.calls.map((call) => call.command))).toEqual(new Set(['HeadObject']));
    for await (const chunk of await store.open('user1', 't1')) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    await readAll(await store.open('user1', 't1'));
    expect(s3.openBodies()).toBe(0);
  });

  it('are given back when the rollout expands over the limit', async () => {
    await put(chunksOf(Buffer.alloc(1_000_000, 'x'), 100_000));
    const small = new S3RolloutStore(s3.client, 'rollouts', { limitBytes: 10 });
    await expect(readAll(await small.open('user1', 't1'))).rejects.toMatchObject({ code: 'rollout.too_large' });
    expect(s3.openBodies()).toBe(0);
  });
});

describe('removing', () => {
  it('leaves no older version, and no other thread goes with it', async () => {
    for (let at = 0; at < 3; at++) await put();
    s3.bucket('rollouts').delete(KEY, undefined);
    await put();
    await put(undefined, 't1.jsonl'); // its key begins with the other one's
    expect(await store.remove('user1', 't1')).toBe(true);
    expect(s3.bucket('rollouts').keys()).toEqual(['rollouts/user1/t1.jsonl.jsonl']);
    expect(await store.remove('user1', 't1')).toBe(false);
  });

  it('where it may not list, hides the object in one call, and leaves the rest to the lifecycle rule', async () => {
    const hiding = new S3RolloutStore(s3.client, 'rollouts', { removal: 'hide' });
    await store.put('user1', 't1', chunksOf(Buffer.from('{}')), 'x', 1);
    const before = s3.calls.length;
    expect(await hiding.remove('user1', 't1')).toBe(true);
    expect(s3.calls.slice(before).map((call) => call.command)).toEqual(['DeleteObject']);
    expect(await store.look('user1', 't1')).toBeUndefined();
    s3.failNext('DeleteObject', { kind: 'fail', error: slowDown() });
    await expect(hiding.remove('user1', 't1')).rejects.toEqual(unavailable('rollout.write_failed'));
  });

  it('removes the versions behind a delete marker, and says that there was no rollout', async () => {
    await put();
    s3.bucket('rollouts').delete(KEY, undefined);
    expect(await store.remove('user1', 't1')).toBe(false);
    expect(s3.bucket('rollouts').keys()).toEqual([]);
  });
});

describe('failures', () => {
  it.each([
    ['a throttle', slowDown()],
    ['a reset', connectionReset()],
    ['a refusal', s3Error('AccessDenied', 403, MARKER)],
    ['a missing bucket', s3Error('NoSuchBucket', 404)],
  ])('are unavailable, without any content: %s', async (_name, error) => {
    const fail = (command: string) => s3.failNext(command, { kind: 'fail', error });
    fail('PutObject');
    await expect(put()).rejects.toEqual(unavailable('rollout.write_failed'));
    fail('GetObject');
    await expect(store.open('user1', 't1')).rejects.toEqual(unavailable('rollout.read_failed'));
    fail('HeadObject');
    await expect(store.look('user1', 't1')).rejects.toEqual(unavailable('rollout.read_failed'));
    fail('ListObjectVersions');
    await expect(store.remove('user1', 't1')).rejects.toEqual(unavailable('rollout.write_failed'));
  });

  it('tell of versions that S3 refuses to delete one by one', async () => {
    await put();
    s3.refusedDeletes.add(KEY);
    await expect(store.remove('user1', 't1')).rejects.toMatchObject({
      code: 'rollout.write_failed',
      details: { refused: 1 },
    });
  });
});
