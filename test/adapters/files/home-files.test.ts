import type { FileHandle } from 'node:fs/promises';
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FileOpener, openNewFile, writeFailure } from '../../../adapters/files/home-files.ts';
import { FilesMemoryStore } from '../../../adapters/files/memory-store.ts';
import { FilesRolloutStore } from '../../../adapters/files/rollout-store.ts';
import { DefectError, DeniedError, UnavailableError } from '../../../core/errors.ts';
import { encodeUtf8 } from '../../../core/text.ts';
import { aManifest } from '../../contracts/memory-store.contract.ts';
import { chunksOf, readAll } from '../../contracts/rollout-store.contract.ts';

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** Opens real files whose writes fail as on a full disk. */
const fullDisk: FileOpener = async (path) => {
  const handle: FileHandle = await openNewFile(path);
  handle.writeFile = async () => {
    throw systemError('ENOSPC');
  };
  return handle;
};

let home = '';
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'stillroom-home-'));
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});
const filesBelow = async (folder: string) =>
  (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe('writing into the home', () => {
  it.each([
    ['ENOSPC', UnavailableError, 'home.disk_full'],
    ['EDQUOT', UnavailableError, 'home.disk_full'],
    ['EROFS', DeniedError, 'home.read_only'],
    ['EACCES', DeniedError, 'home.read_only'],
    ['EPERM', DeniedError, 'home.read_only'],
    ['EIO', UnavailableError, 'memory.write_failed'],
  ])('names the cause of %s', (code, kind, ours) => {
    const failure = writeFailure(systemError(code), 'memory.write_failed');
    expect(failure).toBeInstanceOf(kind);
    expect(failure).toMatchObject({ code: ours, details: { system_code: code } });
  });

  it('says that the disk is full, changes nothing and leaves nothing behind', async () => {
    await new FilesRolloutStore(home).put('local', 't1', chunksOf(encodeUtf8('old')), 'p', 1);
    const full = new FilesRolloutStore(home, { openFile: fullDisk });
    await expect(full.put('local', 't1', chunksOf(encodeUtf8('new')), 'p', 1)).rejects.toMatchObject({
      code: 'home.disk_full',
    });
    expect((await readAll(await full.open('local', 't1'))).toString()).toBe('old');
    const memories = new FilesMemoryStore(home, { openFile: fullDisk });
    await expect(memories.putFile('local', 'a', encodeUtf8('x'))).rejects.toMatchObject({ code: 'home.disk_full' });
    await expect(memories.putManifest('local', aManifest(1))).rejects.toMatchObject({ code: 'home.disk_full' });
    expect((await filesBelow(home)).map((entry) => entry.name)).toEqual(['t1.jsonl']);
  });

  it('fails in our words where the home is a file', async () => {
    await writeFile(join(home, 'file'), '');
    const store = new FilesRolloutStore(join(home, 'file'));
    await expect(store.put('local', 't1', chunksOf(encodeUtf8('x')), 'p', 1)).rejects.toMatchObject({
      code: 'rollout.write_failed',
    });
  });

  it('gives files and folders to their owner alone', async () => {
    const inner = join(home, 'new');
    await new FilesRolloutStore(inner).put('u1', 't1', chunksOf(encodeUtf8('x')), 'p', 1);
    const memories = new FilesMemoryStore(inner);
    const entry = await memories.putFile('local', 'a', encodeUtf8('x'));
    await memories.putManifest('local', aManifest(12));
    const files = [
      'users/u1/rollouts/t1.jsonl',
      `versions/objects/${entry.sha256.slice(0, 2)}/${entry.sha256}`,
      'versions/manifests/0000000012.json',
    ];
    for (const file of files) expect(await modeOf(join(inner, file))).toBe(0o600);
    for (const folder of ['', 'users', 'users/u1', 'users/u1/rollouts', 'versions', 'versions/manifests'])
      expect(await modeOf(join(inner, folder))).toBe(0o700);
    expect(await filesBelow(inner)).toHaveLength(3);
  });

  it.each(['', '..', '.', 'a/b', 'a\\b'])('lets no user key %j choose a folder', async (userKey) => {
    await expect(new FilesMemoryStore(home).manifestNumbers(userKey)).rejects.toBeInstanceOf(DefectError);
  });

  it('sweeps what killed writers left, a day later', async () => {
    const folder = join(home, 'rollouts');
    await mkdir(folder);
    for (const name of ['.t1.jsonl.old.tmp', '.t1.jsonl.new.tmp']) await writeFile(join(folder, name), 'part');
    await utimes(join(folder, '.t1.jsonl.old.tmp'), 1, 1);
    await new FilesRolloutStore(home).put('local', 't2', chunksOf(encodeUtf8('x')), 'p', 1);
    expect((await readdir(folder)).sort()).toEqual(['.t1.jsonl.new.tmp', 't2.jsonl']);
  });
});

describe('removing orphan contents', () => {
  const objectFile = (sha256: string) => join(home, 'versions', 'objects', sha256.slice(0, 2), sha256);

  it('keeps what a publisher at work may be about to name', async () => {
    const store = new FilesMemoryStore(home);
    const fresh = await store.putFile('local', 'a', encodeUtf8('fresh'));
    const old = await store.putFile('local', 'a', encodeUtf8('old'));
    await utimes(objectFile(old.sha256), 1, 1);
    expect(await store.removeOrphans('local', [])).toBe(1);
    expect(await store.readFile('local', 'a', fresh)).toHaveLength(5);
    await expect(store.readFile('local', 'a', old)).rejects.toMatchObject({ code: 'memory.content_gone' });
  });

  it('keeps an old content that a publisher has just stored again', async () => {
    const store = new FilesMemoryStore(home);
    const entry = await store.putFile('local', 'a', encodeUtf8('again'));
    await utimes(objectFile(entry.sha256), 1, 1);
    await store.putFile('local', 'b', encodeUtf8('again'));
    expect(await store.removeOrphans('local', [])).toBe(0);
    expect(await store.readFile('local', 'b', entry)).toHaveLength(5);
  });

  it('does not count staged leftovers, but removes them', async () => {
    const store = new FilesMemoryStore(home);
    const entry = await store.putFile('local', 'a', encodeUtf8('x'));
    await store.putManifest('local', aManifest(1, { files: { a: entry } }));
    const stray = join(home, 'versions', 'objects', entry.sha256.slice(0, 2), '.stray.tmp');
    await writeFile(stray, 'part');
    await utimes(stray, 1, 1);
    expect(await store.removeOrphans('local', [])).toBe(0);
    expect(await filesBelow(home)).toHaveLength(2);
  });
});
