import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { manifestKey, memoryKey } from '../../../adapters/s3/keys.ts';
import { findOrphans, NamedContents } from '../../../adapters/s3/memory-orphans.ts';
import { S3MemoryStore } from '../../../adapters/s3/memory-store.ts';
import type { FileEntry } from '../../../core/consolidation/manifest.ts';
import { DefectError, UnavailableError } from '../../../core/errors.ts';
import { decodeUtf8, encodeUtf8 } from '../../../core/text.ts';
import { HOUR_MS } from '../../../core/time.ts';
import { aManifest } from '../../contracts/memory-store.contract.ts';
import { RecordingTelemetry } from '../../doubles/recording-telemetry.ts';
import { FakeS3 } from '../../support/fake-s3.ts';
import {
  conditionalConflict,
  connectionReset,
  requestTimeout,
  s3Error,
  slowDown,
} from '../../support/fake-s3-errors.ts';

const USER = 'user1';
let now = Date.UTC(2026, 0, 2);
let s3: FakeS3;
let store: S3MemoryStore;
let telemetry: RecordingTelemetry;
let pauses = 0;

beforeEach(async () => {
  pauses = 0;
  telemetry = new RecordingTelemetry();
  s3 = await FakeS3.start({ now: () => now, pageSize: 3 });
  store = storeOn('memories');
});
afterEach(() => s3.close());

function storeOn(bucket: string): S3MemoryStore {
  const pause = async () => {
    pauses++;
  };
  return new S3MemoryStore(s3.client, bucket, telemetry, { now: () => now, pause });
}

const put = (path: string, text: string, userKey = USER) => store.putFile(userKey, path, encodeUtf8(text));
const read = async (path: string, entry: FileEntry) => decodeUtf8(await store.readFile(USER, path, entry));
const bucket = () => s3.bucket('memories');
const unavailable = (code: string) =>
  expect.toSatisfy((error) => error instanceof UnavailableError && error.code === code);

describe('files by version id', () => {
  it('are read as the entry names them, in one request', async () => {
    const one = await put('MEMORY.md', 'one');
    await put('MEMORY.md', 'two');
    s3.calls.length = 0;
    expect(await read('MEMORY.md', one)).toBe('one');
    expect(s3.calls.map((call) => call.input['VersionId'])).toEqual([one.versionId]);
  });

  it('C26: a version that is gone is served by a current object of the same content, and told', async () => {
    const one = await put('MEMORY.md', 'same');
    await put('MEMORY.md', 'same');
    bucket().delete(memoryKey(USER, 'MEMORY.md'), one.versionId);
    expect(await read('MEMORY.md', one)).toBe('same');
    expect(telemetry.events.map((event) => event.name)).toEqual(['memory.version_gone']);
    await put('MEMORY.md', 'different');
    await expect(read('MEMORY.md', one)).rejects.toMatchObject({ code: 'memory.content_gone' });
    bucket().delete(memoryKey(USER, 'MEMORY.md'), undefined);
    await expect(read('MEMORY.md', one)).rejects.toBeInstanceOf(DefectError);
    expect(s3.openBodies()).toBe(0);
  });

  it('are never sought in a bucket that keeps no versions', async () => {
    s3.close();
    s3 = await FakeS3.start({ unversionedBuckets: ['plain'] });
    store = storeOn('plain');
    await expect(put('MEMORY.md', 'x')).rejects.toMatchObject({ code: 'memory.unversioned_bucket' });
  });

  it('that S3 does not take or give are unavailable', async () => {
    s3.failNext('PutObject', { kind: 'fail', error: slowDown() });
    await expect(put('MEMORY.md', 'x')).rejects.toEqual(unavailable('memory.write_failed'));
    const entry = await put('MEMORY.md', 'x');
    s3.failNext('GetObject', { kind: 'fail', error: connectionReset() });
    await expect(read('MEMORY.md', entry)).rejects.toEqual(unavailable('memory.read_failed'));
    s3.failNext('GetObject', { kind: 'fail', error: s3Error('NoSuchBucket', 404) });
    await expect(read('MEMORY.md', entry)).rejects.toEqual(unavailable('memory.read_failed'));
    s3.failNext('ListObjectsV2', { kind: 'fail', error: requestTimeout() });
    await expect(store.manifestNumbers(USER)).rejects.toEqual(unavailable('memory.read_failed'));
  });
});

describe('C27: a manifest', () => {
  it('of which S3 says 409 is tried once more, after a pause', async () => {
    s3.failNext('PutObject', { kind: 'fail', error: conditionalConflict() });
    expect(await store.putManifest(USER, aManifest(1))).toBe('stored');
    expect([pauses, s3.count('PutObject')]).toEqual([1, 2]);
    s3.faultFor = (call) => (call.command === 'PutObject' ? { kind: 'fail', error: conditionalConflict() } : undefined);
    await expect(store.putManifest(USER, aManifest(2))).rejects.toEqual(unavailable('memory.write_failed'));
    expect(pauses).toBe(2);
  });

  it('of which S3 says 412 is taken, unless the one that lies there is this very one', async () => {
    await store.putManifest(USER, aManifest(1, { actor: 'a' }));
    expect(await store.putManifest(USER, aManifest(1, { actor: 'b' }))).toBe('taken');
    // The first answer was lost, and the client's own second try met what the first had stored.
    expect(await store.putManifest(USER, aManifest(1, { actor: 'a' }))).toBe('stored');
    expect(bucket().allVersions()).toHaveLength(1);
  });

  it.each([connectionReset(), requestTimeout(), slowDown()])('whose reply is lost is stored: %s', async (error) => {
    s3.failNext('PutObject', { kind: 'lose-reply', error });
    expect(await store.putManifest(USER, aManifest(1))).toBe('stored');
    s3.failNext('PutObject', { kind: 'fail', error });
    await expect(store.putManifest(USER, aManifest(2))).rejects.toEqual(unavailable('memory.write_failed'));
    expect(await store.manifestNumbers(USER)).toEqual([1]);
  });

  it('that hangs ends with the time limit of the call', async () => {
    s3.failNext('PutObject', { kind: 'hang' });
    const storing = store.putManifest(USER, aManifest(1));
    await Promise.resolve();
    await Promise.resolve();
    expect(s3.endHanging()).toBe(1);
    await expect(storing).rejects.toEqual(unavailable('memory.write_failed'));
  });

  it('is refused without more ado where S3 denies it', async () => {
    s3.failNext('PutObject', { kind: 'fail', error: s3Error('AccessDenied', 403) });
    await expect(store.putManifest(USER, aManifest(1))).rejects.toMatchObject({
      code: 'memory.write_failed',
      details: { service_code: 'AccessDenied', status: 403 },
    });
    expect(s3.calls).toHaveLength(1);
  });
});

describe('hiding', () => {
  it('puts delete markers, and tells what fails instead of throwing', async () => {
    const entry = await put('a.md', 'x');
    await store.hide(USER, ['a.md']);
    expect(bucket().current(memoryKey(USER, 'a.md'))).toBeUndefined();
    expect(await read('a.md', entry)).toBe('x');
    s3.refusedDeletes.add(memoryKey(USER, 'a.md'));
    await store.hide(USER, ['a.md', 'b.md']);
    s3.failNext('DeleteObjects', { kind: 'fail', error: slowDown() });
    await store.hide(USER, ['a.md']);
    expect(telemetry.events).toMatchObject([
      { level: 'warn', name: 'memory.hide_failed', fields: { paths: 2, refused: 1 } },
      { level: 'warn', name: 'memory.hide_failed', fields: { code: 'memory.write_failed', service_code: 'SlowDown' } },
    ]);
  });

  it('asks nothing where nothing left', async () => {
    await store.hide(USER, []);
    expect(s3.calls).toEqual([]);
  });
});

describe('the clean-up', () => {
  it('keeps what is young, and makes the version in use the newest again once a stray one is old', async () => {
    const used = await put('MEMORY.md', 'used');
    await store.putManifest(USER, aManifest(1, { files: { 'MEMORY.md': used } }));
    const stray = await put('MEMORY.md', 'stray');
    now += HOUR_MS - 1_000;
    expect(await store.removeOrphans(USER, [])).toBe(0);
    expect(bucket().newest(memoryKey(USER, 'MEMORY.md'))?.versionId).toBe(stray.versionId);
    now += 1_000;
    expect(await store.removeOrphans(USER, [])).toBe(1);
    expect(bucket().newest(memoryKey(USER, 'MEMORY.md'))?.versionId).toBe(used.versionId);
    expect(await store.removeOrphans(USER, [])).toBe(0);
  });

  it('takes delete markers away from paths in use, and leaves those of paths that left', async () => {
    const [kept, left] = [await put('kept.md', 'x'), await put('left.md', 'x')];
    await store.putManifest(USER, aManifest(1, { files: { 'kept.md': kept, 'left.md': left } }));
    await store.putManifest(USER, aManifest(2, { files: { 'kept.md': kept } }));
    await store.hide(USER, ['left.md', 'kept.md', 'kept.md']);
    await store.removeOrphans(USER, []);
    expect(bucket().current(memoryKey(USER, 'kept.md'))?.versionId).toBe(kept.versionId);
    expect(bucket().current(memoryKey(USER, 'left.md'))).toBeUndefined();
    expect(await read('left.md', left)).toBe('x');
  });

  it('removes every version of an orphan manifest, and never a thing of another user', async () => {
    for (const user of [USER, 'user10', 'user']) {
      await put('MEMORY.md', 'stray', user);
      await store.putManifest(user, aManifest(1));
    }
    bucket().delete(manifestKey(USER, 1), undefined);
    now += 2 * HOUR_MS;
    expect(await store.removeOrphans(USER, [1])).toBe(1);
    expect(bucket().keys('users/user1/')).toEqual([]);
    expect(bucket().keys()).toHaveLength(4);
  });

  it('C25: 1,000 consolidations leave only what their manifests name', async () => {
    const files = { 'a.md': await put('a.md', 'x') };
    for (let version = 1; version <= 1_000; version++) await put('a.md', `lost ${version}`);
    await store.putManifest(USER, aManifest(1, { files }));
    now += HOUR_MS;
    s3.calls.length = 0;
    expect(await store.removeOrphans(USER, [])).toBe(1_000);
    expect(bucket().allVersions()).toHaveLength(2);
    expect(s3.count('DeleteObjects')).toBe(1);
  });

  it('deletes in batches that S3 takes', async () => {
    for (let at = 0; at < 1_001; at++) await put(`f${at}`, 'x');
    now += HOUR_MS;
    expect(await store.removeOrphans(USER, [])).toBe(1_001);
    expect(s3.count('DeleteObjects')).toBe(2);
  });

  it('fails where S3 refuses, and finishes the next time', async () => {
    await put('a.md', 'x');
    now += HOUR_MS;
    s3.refusedDeletes.add(memoryKey(USER, 'a.md'));
    await expect(store.removeOrphans(USER, [])).rejects.toEqual(unavailable('memory.write_failed'));
    s3.refusedDeletes.clear();
    expect(await store.removeOrphans(USER, [])).toBe(1);
  });

  it('decides from the listing alone, in whatever order it comes', () => {
    const version = (key: string, versionId: string, more: object = {}) => {
      return { key: `p/${key}`, versionId, isLatest: false, isMarker: false, modifiedAt: 5, ...more };
    };
    const entry = { versionId: 'v1', sha256: '0'.repeat(64), bytes: 1 };
    const versions = [
      version('a', 'm', { isMarker: true, isLatest: true }),
      version('a', 'v1'),
      version('a', 'v0'),
      version('b', 'v1'),
      version('b', 'young', { modifiedAt: 6 }),
      version('b', 'm', { isMarker: true, isLatest: true }),
      version('toString', 'm', { isMarker: true }),
    ];
    const named = new NamedContents('p/');
    for (const manifest of [aManifest(2, { files: { a: entry } }), aManifest(1)]) named.add(manifest);
    const known = { named, olderThan: 5 };
    for (const listed of [versions, versions.toReversed()]) {
      const { contents, markers } = findOrphans(listed, known);
      expect(new Set(contents.map((item) => `${item.key} ${item.versionId}`))).toEqual(new Set(['p/a v0', 'p/b v1']));
      expect(markers.map((item) => item.key)).toEqual(['p/a']);
    }
  });
});
