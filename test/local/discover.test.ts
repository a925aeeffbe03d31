import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InvalidInputError, NotFoundError } from '../../core/errors.ts';
import { existingFolders, findRollouts } from '../../local/discover.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stillroom-discover-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function place(path: string): string {
  const full = join(folder, path);
  mkdirSync(join(full, '..'), { recursive: true });
  writeFileSync(full, '{}\n');
  return full;
}

describe('findRollouts', () => {
  it('finds rollout files at any depth in byte order and leaves other files alone', async () => {
    const expected = [place('B/x.jsonl'), place('a/2026/11/r.jsonl'), place('a/z.json.gz')];
    place('a/README.md');
    place('a/.git/config');
    expect((await findRollouts([folder])).map((file) => file.path)).toEqual(expected);
  });

  it('takes a file that was named whatever its ending', async () => {
    const path = place('transcript.txt');
    expect((await findRollouts([path])).map((file) => file.path)).toEqual([path]);
  });

  it('lists a file once when it is named twice', async () => {
    const path = place('a.jsonl');
    expect(await findRollouts([path, folder])).toHaveLength(1);
  });

  it('W-01 hides a compressed file beside its plain form', async () => {
    const plain = place('r.jsonl');
    place('r.jsonl.zst');
    const alone = place('s.jsonl.zst');
    expect((await findRollouts([folder])).map((file) => file.path)).toEqual([plain, alone]);
  });

  it('does not follow links inside a folder', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'stillroom-outside-'));
    writeFileSync(join(outside, 'x.jsonl'), '{}\n');
    symlinkSync(outside, join(folder, 'link'));
    const path = place('a.jsonl');
    expect((await findRollouts([folder])).map((file) => file.path)).toEqual([path]);
    rmSync(outside, { recursive: true });
  });

  it('names a path that does not exist', async () => {
    await expect(findRollouts([join(folder, 'none')])).rejects.toThrow(NotFoundError);
  });

  it('refuses a named file that it may not read, and says so', async () => {
    // root may read any file, but not this one of the kernel
    const path = process.getuid?.() === 0 ? '/proc/sys/vm/compact_memory' : place('locked.jsonl');
    if (process.getuid?.() !== 0) chmodSync(path, 0o000);
    await expect(findRollouts([path])).rejects.toThrow(/check its permissions/);
  });

  it('says what a rollout looks like when a folder has none', async () => {
    place('notes.md');
    await expect(findRollouts([folder])).rejects.toThrow(InvalidInputError);
    await expect(findRollouts([folder])).rejects.toThrow(/\.jsonl/);
  });
});

describe('existingFolders', () => {
  it('keeps the folders that are there, in order', async () => {
    expect(await existingFolders([join(folder, 'none'), folder])).toEqual([folder]);
  });
});
