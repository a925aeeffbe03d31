import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyKey, manifestKey, parseBodyKey, parseManifestKey, rolloutKey } from '../../../adapters/s3/keys.ts';
import * as requests from '../../../adapters/s3/object-requests.ts';
import { uploadRequest } from '../../../adapters/s3/presign-upload.ts';
import { contentName, toHints, toMetadata } from '../../../adapters/s3/upload-metadata.ts';
import { toUserKey } from '../../../core/ids.ts';
import { NO_HINTS } from '../../../core/thread/thread.ts';

const place = { bucket: 'b', key: 'k' };
const content = new TextEncoder().encode('abc');
const checksum = createHash('sha256').update('abc').digest('base64');
const hex = createHash('sha256').update('abc').digest('hex');

describe('requests as data', () => {
  it('stores bytes with their length and checksum, a manifest only where nothing lies', () => {
    const stored = {
      Bucket: 'b',
      Key: 'k',
      Body: content,
      ContentLength: 3,
      ContentType: 'text/plain',
      ChecksumSHA256: checksum,
    };
    expect(requests.putRequest(place, content, { contentType: 'text/plain' })).toEqual(stored);
    expect(requests.putRequest(place, content, { contentType: 'text/plain', metadata: { a: 'b' } })).toEqual({
      ...stored,
      Metadata: { a: 'b' },
    });
    expect(requests.createRequest(place, content, 'text/plain')).toEqual({ ...stored, IfNoneMatch: '*' });
  });

  it('reads the current object or one version, and looks with its checksum', () => {
    expect(requests.readRequest(place)).toEqual({ Bucket: 'b', Key: 'k' });
    expect(requests.readRequest(place, 'v')).toEqual({ Bucket: 'b', Key: 'k', VersionId: 'v' });
    expect(requests.lookRequest(place)).toEqual({ Bucket: 'b', Key: 'k', ChecksumMode: 'ENABLED' });
  });

  it('goes on listing where a page ended, with no undefined field on the wire', () => {
    expect(requests.listRequest('b', 'p/', undefined)).toEqual({ Bucket: 'b', Prefix: 'p/' });
    expect(requests.listRequest('b', 'p/', 't')).toEqual({ Bucket: 'b', Prefix: 'p/', ContinuationToken: 't' });
    const first = requests.listVersionsRequest('b', 'p/', undefined);
    expect(Object.keys(first)).toEqual(['Bucket', 'Prefix']);
    expect(requests.listVersionsRequest('b', 'p/', { key: 'k', versionId: undefined })).toEqual({
      ...first,
      KeyMarker: 'k',
    });
    expect(requests.listVersionsRequest('b', 'p/', { key: 'k', versionId: 'v' })).toEqual({
      ...first,
      KeyMarker: 'k',
      VersionIdMarker: 'v',
    });
  });

  it('deletes versions for good and hides keys, and asks for failures only', () => {
    expect(requests.deleteRequest('b', [{ key: 'k', versionId: 'v' }, { key: 'l' }])).toEqual({
      Bucket: 'b',
      Delete: { Objects: [{ Key: 'k', VersionId: 'v' }, { Key: 'l' }], Quiet: true },
    });
  });

  it('binds an upload to what is said of it, and to nothing else', () => {
    const bare = { bytes: null, sha256: null, hints: NO_HINTS, now: 1 };
    expect(uploadRequest(place, 't1', bare)).toEqual({
      input: { Bucket: 'b', Key: 'k', Metadata: { 'thread-id': 't1' } },
      headers: { 'x-amz-meta-thread-id': 't1' },
    });
    const said = { bytes: 3, sha256: hex, hints: { ...NO_HINTS, cwd: '/a b', ended: false }, now: 1 };
    const Metadata = { 'thread-id': 't1', sha256: hex, ended: 'false', cwd: '%2Fa%20b' };
    expect(uploadRequest(place, 't1', said)).toEqual({
      input: { Bucket: 'b', Key: 'k', Metadata, ChecksumSHA256: checksum, ContentLength: 3 },
      headers: {
        'x-amz-meta-thread-id': 't1',
        'x-amz-meta-sha256': hex,
        'x-amz-meta-ended': 'false',
        'x-amz-meta-cwd': '%2Fa%20b',
        'x-amz-checksum-sha256': checksum,
        'content-length': '3',
      },
    });
  });
});

describe('keys', () => {
  it('are read back for their own user only', () => {
    expect(parseManifestKey('user1', manifestKey('user1', 12))).toBe(12);
    expect(parseBodyKey('user1', bodyKey('user1', 't1', 5))).toEqual({ threadId: 't1', sourceUpdatedAt: 5 });
    for (const key of [manifestKey('user10', 12), 'users/user1/manifests/12.json', rolloutKey('user1', 't1')]) {
      expect(parseManifestKey('user1', key)).toBeUndefined();
      expect(parseBodyKey('user1', key)).toBeUndefined();
    }
    for (const name of ['../5.json.zst', 't1/x.json.zst', 't1/5.json', 't1/a/5.json.zst'])
      expect(parseBodyKey('user1', `users/user1/bodies/${name}`)).toBeUndefined();
  });

  it('of two users never lie in one another, whatever their ids', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (one, two) => {
        fc.pre(one !== two);
        const [a, b] = [manifestKey(toUserKey(one), 1), manifestKey(toUserKey(two), 1)];
        expect(a).not.toBe(b);
        expect(parseManifestKey(toUserKey(one), b)).toBeUndefined();
      }),
    );
  });
});

describe('what an uploader says', () => {
  const text = fc.option(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter((value) => !/\p{Cc}/u.test(value)),
    { nil: null },
  );

  it('comes back as it was said', () => {
    const hints = fc.record({
      source: text,
      cwd: text,
      repository: text,
      gitBranch: text,
      sourceUpdatedAt: fc.option(fc.nat(), { nil: null }),
      ended: fc.option(fc.boolean(), { nil: null }),
    });
    fc.assert(
      fc.property(hints, (said) => {
        const metadata = toMetadata({ threadId: 't1', hints: said, sha256: hex });
        expect(toHints(metadata)).toEqual(said);
        for (const value of Object.values(metadata)) expect(value).toMatch(/^[\x21-\x7e]*$/);
      }),
    );
  });

  it('fits into the 2 KB of S3, the more telling first', () => {
    const long = '/日'.repeat(200);
    const hints = { ...NO_HINTS, source: 'cli', repository: 'x'.repeat(1_500), cwd: long, gitBranch: 'main' };
    const metadata = toMetadata({ threadId: 'x'.repeat(128), hints, sha256: hex });
    expect(toHints(metadata)).toEqual({ ...NO_HINTS, source: 'cli', gitBranch: 'main' });
    const bytes = Object.entries(metadata).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
    expect(bytes).toBeLessThanOrEqual(2_048);
  });

  it.each([
    ['half a percent code', { cwd: '%E0%A4%A', source: '%', 'git-branch': '%zz' }],
    ['what is no UTF-8', { cwd: '%ff%fe' }],
    ['control characters', { cwd: '/a%0Ab', source: '%00', repository: '%1B[31m' }],
    ['what is too long', { cwd: 'x'.repeat(1_025) }],
    ['times that are none', { 'source-updated-at': '1e12' }],
    ['a negative time', { 'source-updated-at': '-5' }],
    ['a time beyond all time', { 'source-updated-at': '9999999999999999' }],
    ['text for a time', { 'source-updated-at': '2026-01-01T00:00:00Z' }],
    ['a flag that is none', { ended: 'yes' }],
    ['nothing at all', { cwd: '', ended: '', 'source-updated-at': '' }],
    ['names that mean something to objects', { __proto__: 'x', constructor: 'x' }],
  ])('says nothing with %s', (_name, metadata) => {
    expect(toHints(metadata)).toEqual(NO_HINTS);
  });

  it('is decoded once only', () => {
    expect(toHints({ cwd: '%252Ftmp' }).cwd).toBe('%2Ftmp');
    expect(toHints({ cwd: 'a+b' }).cwd).toBe('a+b');
    expect(toHints(undefined)).toEqual(NO_HINTS);
  });

  it('names the content by the checksum S3 keeps, the one it was given, or its ETag', () => {
    const other = 'f'.repeat(64);
    expect(contentName({ ChecksumSHA256: checksum, Metadata: { sha256: other }, ETag: '"e"' })).toBe(hex);
    expect(contentName({ ChecksumSHA256: `${checksum}-3`, Metadata: { sha256: other } })).toBe(other);
    expect(contentName({ ChecksumSHA256: `${checksum}-3`, ETag: '"abc-3"' })).toBe('etag:abc-3');
    expect(contentName({ ChecksumSHA256: 'AAAA', Metadata: { sha256: 'x' }, ETag: '"e"' })).toBe('etag:e');
  });
});
