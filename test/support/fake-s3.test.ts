import { createHash } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketAclCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterEach, describe, expect, it } from 'vitest';
import { createObjectClient } from '../../adapters/s3/client.ts';
import { FakeS3, type FakeS3Options } from './fake-s3.ts';
import { conditionalConflict, connectionReset, slowDown } from './fake-s3-errors.ts';
import { probeObjectStore } from './probe-object-store.ts';

const Bucket = 'memories';
const sha256 = (text: string) => createHash('sha256').update(text).digest('base64');
const failure = (name: string, status: number) =>
  expect.toSatisfy(
    (error) => error instanceof S3ServiceException && error.name === name && error.$metadata.httpStatusCode === status,
  );

let s3: FakeS3;
async function start(options: FakeS3Options = {}): Promise<FakeS3> {
  s3 = await FakeS3.start(options);
  return s3;
}
afterEach(() => s3.close());

const put = (Key: string, Body = 'x', more: object = {}) =>
  s3.client.send(new PutObjectCommand({ Bucket, Key, Body, ...more }));
const get = (Key: string, more: object = {}) => s3.client.send(new GetObjectCommand({ Bucket, Key, ...more }));
const text = async (Key: string, more: object = {}) => (await get(Key, more)).Body?.transformToString();
const remove = (Key: string, VersionId?: string) =>
  s3.client.send(new DeleteObjectCommand({ Bucket, Key, ...(VersionId === undefined ? {} : { VersionId }) }));

describe('objects and versions', () => {
  it('keeps every version, readable by its id', async () => {
    await start();
    const [one, two] = [await put('k', 'one'), await put('k', 'two')];
    expect([one.VersionId, two.VersionId]).toEqual(['v0000000001', 'v0000000002']);
    expect(await text('k')).toBe('two');
    expect(await text('k', { VersionId: one.VersionId })).toBe('one');
    await expect(get('k', { VersionId: 'v0000000009' })).rejects.toEqual(failure('NoSuchVersion', 404));
    for (const VersionId of ['', '../../etc/passwd', '0'.repeat(64)])
      await expect(get('k', { VersionId })).rejects.toEqual(failure('InvalidArgument', 400));
    await expect(get('other')).rejects.toEqual(failure('NoSuchKey', 404));
    await expect(get('k', { Bucket: 'nowhere' })).rejects.toEqual(failure('NoSuchBucket', 404));
  });

  it('hides an object behind a delete marker, and shows it again without the marker', async () => {
    await start();
    const { VersionId } = await put('k', 'one');
    const marker = await remove('k');
    expect(marker).toMatchObject({ DeleteMarker: true });
    await expect(get('k')).rejects.toMatchObject({ $response: { headers: { 'x-amz-delete-marker': 'true' } } });
    await expect(get('k', { VersionId: marker.VersionId })).rejects.toEqual(failure('MethodNotAllowed', 405));
    expect(await text('k', { VersionId })).toBe('one');
    expect(await remove('k', marker.VersionId)).toMatchObject({ DeleteMarker: true, VersionId: marker.VersionId });
    expect(await text('k')).toBe('one');
    await remove('k', VersionId);
    await expect(get('k')).rejects.toEqual(failure('NoSuchKey', 404));
    expect((await remove('never')).DeleteMarker).toBe(true); // S3 leaves a marker there, too
  });

  it('replaces an object in a bucket without versions', async () => {
    await start({ unversionedBuckets: ['plain'] });
    const here = { Bucket: 'plain' };
    expect((await put('k', 'one', here)).VersionId).toBeUndefined();
    await put('k', 'two', here);
    expect(await text('k', here)).toBe('two');
    await s3.client.send(new DeleteObjectCommand({ Bucket: 'plain', Key: 'k' }));
    expect(s3.bucket('plain').allVersions()).toEqual([]);
  });

  it('honours If-None-Match and If-Match', async () => {
    await start();
    const { ETag } = await put('k', 'one', { IfNoneMatch: '*' });
    await expect(put('k', 'two', { IfNoneMatch: '*' })).rejects.toEqual(failure('PreconditionFailed', 412));
    await expect(put('k', 'two', { IfMatch: '"other"' })).rejects.toEqual(failure('PreconditionFailed', 412));
    await put('k', 'two', { IfMatch: ETag });
    await remove('k');
    await expect(put('k', 'three', { IfMatch: ETag })).rejects.toEqual(failure('NoSuchKey', 404));
    await put('k', 'three', { IfNoneMatch: '*' });
  });

  it('checks checksums and lengths, and tells a checksum to a HEAD that asks', async () => {
    await start();
    await expect(put('k', 'x', { ChecksumSHA256: sha256('y') })).rejects.toEqual(failure('BadDigest', 400));
    await expect(put('k', 'x', { ContentLength: 2 })).rejects.toEqual(failure('IncompleteBody', 400));
    await put('k', 'x', { ChecksumSHA256: sha256('x'), Metadata: { 'Thread-Id': 't1' }, ContentType: 'text/plain' });
    const head = (more: object) => s3.client.send(new HeadObjectCommand({ Bucket, Key: 'k', ...more }));
    expect(await head({ ChecksumMode: 'ENABLED' })).toMatchObject({
      ChecksumSHA256: sha256('x'),
      Metadata: { 'thread-id': 't1' },
      ContentLength: 1,
      ContentType: 'text/plain',
    });
    expect((await head({})).ChecksumSHA256).toBeUndefined();
    await expect(head({ Key: 'none' })).rejects.toEqual(failure('NotFound', 404));
    await expect(put('k', 'x', { Metadata: { cwd: '/ä' } })).rejects.toThrow('ASCII');
    await expect(put('k', 'x', { Metadata: { a: 'x'.repeat(2_048) } })).rejects.toEqual(
      failure('MetadataTooLarge', 400),
    );
  });

  it.each([
    ['bytes=1-2', 'bc', 'bytes 1-2/4'],
    ['bytes=2-', 'cd', 'bytes 2-3/4'],
    ['bytes=-1', 'd', 'bytes 3-3/4'],
  ])('reads the range %s', async (Range, expected, ContentRange) => {
    await start();
    await put('k', 'abcd');
    expect(await text('k', { Range })).toBe(expected);
    expect((await get('k', { Range })).ContentRange).toBe(ContentRange);
    await expect(get('k', { Range: 'bytes=9-' })).rejects.toEqual(failure('InvalidRange', 416));
  });

  it('counts bodies until they are read or destroyed', async () => {
    await start();
    await put('k', 'abcd');
    await text('k');
    expect(s3.openBodies()).toBe(0);
    await get('k');
    expect(s3.openBodies()).toBe(1);
  });
});

describe('listings', () => {
  it('pages through objects in the order of their bytes, without hidden ones', async () => {
    await start({ pageSize: 2 });
    for (const key of ['a/😀', 'a/ﬀ', 'a/1', 'a/2', 'b/1']) await put(key);
    await remove('a/2');
    const list = (more: object) => s3.client.send(new ListObjectsV2Command({ Bucket, Prefix: 'a/', ...more }));
    const first = await list({});
    expect(first).toMatchObject({ KeyCount: 2, IsTruncated: true });
    const second = await list({ ContinuationToken: first.NextContinuationToken });
    expect([...(first.Contents ?? []), ...(second.Contents ?? [])].map((item) => item.Key)).toEqual([
      'a/1',
      'a/ﬀ',
      'a/😀',
    ]);
    expect(second).toMatchObject({ IsTruncated: false, NextContinuationToken: undefined });
    expect((await list({ Prefix: 'none/' })).Contents).toBeUndefined();
    expect((await list({ MaxKeys: 1 })).KeyCount).toBe(1);
    expect((await list({ StartAfter: 'a/1' })).Contents?.[0]?.Key).toBe('a/ﬀ');
  });

  it('pages through versions and markers, newest first, also from within a key', async () => {
    await start({ pageSize: 1 });
    await put('k', 'one');
    await put('k', 'two');
    await remove('k');
    await put('l');
    const seen: string[] = [];
    let marker: object = {};
    for (;;) {
      const page = await s3.client.send(new ListObjectVersionsCommand({ Bucket, Prefix: '', ...marker }));
      for (const item of page.Versions ?? []) seen.push(`${item.Key} ${item.VersionId} ${item.IsLatest}`);
      for (const item of page.DeleteMarkers ?? []) seen.push(`${item.Key} marker ${item.IsLatest}`);
      if (page.IsTruncated !== true) break;
      marker = { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker };
      await remove(page.NextKeyMarker ?? '', page.NextVersionIdMarker); // deleting on the way loses no place
    }
    expect(seen).toEqual(['k marker true', 'k v0000000002 true', 'k v0000000001 true', 'l v0000000004 true']);
  });
});

describe('deleting many', () => {
  it('deletes up to 1,000, and tells those it refuses', async () => {
    await start();
    const removeMany = (Objects: { Key: string; VersionId?: string }[]) =>
      s3.client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    await put('a');
    const { VersionId } = await put('b');
    s3.refusedDeletes.add('a');
    const answer = await removeMany([{ Key: 'a' }, { Key: 'b', VersionId: VersionId ?? '' }]);
    expect(answer.Errors).toMatchObject([{ Key: 'a', Code: 'AccessDenied' }]);
    expect(answer.Deleted).toMatchObject([{ Key: 'b', VersionId }]);
    expect(s3.bucket(Bucket).keys()).toEqual(['a']);
    for (const many of [[], Array.from({ length: 1_001 }, (_, at) => ({ Key: `k${at}` }))])
      await expect(removeMany(many)).rejects.toEqual(failure('MalformedXML', 400));
  });
});

describe('multipart uploads', () => {
  it('makes one object of parts, or nothing', async () => {
    await start();
    const begin = async () => {
      const input = { Bucket, Key: 'big', ChecksumAlgorithm: 'SHA256' as const, Metadata: { a: 'b' } };
      return (await s3.client.send(new CreateMultipartUploadCommand(input))).UploadId;
    };
    const part = async (UploadId: string | undefined, PartNumber: number, Body: string) => {
      const input = { Bucket, Key: 'big', UploadId, PartNumber, Body, ChecksumSHA256: sha256(Body) };
      const { ETag } = await s3.client.send(new UploadPartCommand(input));
      return { PartNumber, ETag, ChecksumSHA256: sha256(Body) };
    };
    const complete = (UploadId: string | undefined, Parts: object[]) =>
      s3.client.send(new CompleteMultipartUploadCommand({ Bucket, Key: 'big', UploadId, MultipartUpload: { Parts } }));
    const large = 'x'.repeat(5 * 1024 * 1024);

    const small = await begin();
    const twoSmall = [await part(small, 1, 'a'), await part(small, 2, 'b')];
    await expect(complete(small, twoSmall)).rejects.toEqual(failure('EntityTooSmall', 400));
    const open = () => s3.client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: 'b' }));
    expect((await open()).Uploads).toEqual([{ Key: 'big', UploadId: small }]);
    await s3.client.send(new AbortMultipartUploadCommand({ Bucket, Key: 'big', UploadId: small }));
    expect((await open()).Uploads).toBeUndefined();
    await expect(part(small, 1, 'a')).rejects.toEqual(failure('NoSuchUpload', 404));

    const upload = await begin();
    const parts = [await part(upload, 1, large), await part(upload, 2, 'end')];
    await expect(complete(upload, [...parts].reverse())).rejects.toEqual(failure('InvalidPartOrder', 400));
    await expect(complete(upload, [{ ...parts[0], ETag: '"0"' }])).rejects.toEqual(failure('InvalidPart', 400));
    expect((await complete(upload, parts)).ETag).toMatch(/^"[0-9a-f]{32}-2"$/);
    expect(await text('big')).toBe(`${large}end`);
    expect(s3.bucket(Bucket).current('big')).toMatchObject({
      metadata: { a: 'b' },
      checksumSha256: expect.stringMatching(/-2$/),
    });
  });
});

describe('faults', () => {
  it('fails before, loses a reply after, or hangs until aborted or timed out', async () => {
    await start();
    s3.failNext('PutObject', { kind: 'fail', error: slowDown() });
    await expect(put('a')).rejects.toEqual(failure('SlowDown', 503));
    expect(s3.bucket(Bucket).keys()).toEqual([]);
    s3.failNext('PutObject', { kind: 'lose-reply', error: connectionReset() }, 1);
    await put('a');
    await expect(put('b')).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(s3.bucket(Bucket).keys()).toEqual(['a', 'b']);

    s3.failNext('GetObject', { kind: 'hang' });
    const abort = new AbortController();
    const reading = s3.client.send(new GetObjectCommand({ Bucket, Key: 'a' }), { abortSignal: abort.signal });
    abort.abort();
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
    s3.faultFor = ({ command }) => (command === 'GetObject' ? { kind: 'hang' } : undefined);
    const waiting = get('a');
    await Promise.resolve();
    expect(s3.endHanging()).toBe(1);
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(s3.count('PutObject')).toBe(3);
  });

  it('reports a planned fault that nothing met', async () => {
    const fake = await FakeS3.start();
    fake.failNext('PutObject', { kind: 'fail', error: conditionalConflict() });
    expect(() => fake.close()).toThrow('PutObject');
    await start();
  });

  it('refuses what it does not know', async () => {
    await start();
    await expect(s3.client.send(new GetBucketAclCommand({ Bucket }))).rejects.toThrow('GetBucketAcl');
    await expect(put('k', 'x', { ACL: 'public-read' })).rejects.toThrow('PutObject.ACL');
    await expect(s3.client.send(new ListObjectsV2Command({ Bucket, Delimiter: '/' }))).rejects.toThrow('Delimiter');
  });
});

describe('C28: the start-up probe', () => {
  it('refuses a store without versions, and leaves nothing in one that passes', async () => {
    await start({ unversionedBuckets: ['plain'] });
    await expect(probeObjectStore(s3.client, 'plain')).rejects.toThrow('keeps no versions');
    await probeObjectStore(s3.client, Bucket);
    expect(s3.bucket(Bucket).allVersions()).toEqual([]);
  });

  it('refuses a store that accepts a second create', async () => {
    await start();
    s3.bucket(Bucket).put = (
      (original) => (key, object) =>
        original.call(s3.bucket(Bucket), key, object)
    )(s3.bucket(Bucket).put);
    await expect(probeObjectStore(s3.client, Bucket)).rejects.toThrow('a second create was accepted');
  });
});

it('tells of created objects, and stands in for every client where code makes its own', async () => {
  const created: string[] = [];
  await start({ everyClient: true, onCreated: (bucket, { key }) => created.push(`${bucket}/${key}`) });
  await put('a');
  await remove('a');
  await createObjectClient()
    .send(new GetObjectCommand({ Bucket, Key: 'none' }))
    .catch((error: unknown) => {
      expect(error).toEqual(failure('NoSuchKey', 404));
    });
  expect(s3.count('GetObject')).toBe(1);
  expect(created.filter((name) => !name.includes('probe'))).toEqual(['memories/a']);
});
