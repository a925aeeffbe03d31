import { describe, expect, it } from 'vitest';
import type { Head } from '../../../core/consolidation/manifest.ts';
import { openVersion, treeFiles } from '../../../core/memory/memory-files.ts';
import { decodeUtf8, encodeUtf8 } from '../../../core/text.ts';
import { aManifest } from '../../contracts/memory-store.contract.ts';
import { MemoryMemoryStore } from '../../doubles/memory-memory-store.ts';
import { treeOf } from '../../support/file-trees.ts';

const notFound = (code: string) => expect.objectContaining({ kind: 'not_found', code });

/** Versions 1 <- 2 <- 4 are published; 3 is the manifest of a run that lost. */
async function openStores(current = 4) {
  const memories = new MemoryMemoryStore();
  for (const [version, parent] of [
    [1, 0],
    [2, 1],
    [3, 2],
    [4, 2],
  ] as const) {
    const entry = await memories.putFile('u', 'MEMORY.md', encodeUtf8(`text ${version}`));
    const extra = await memories.putFile('u', 'B', encodeUtf8('b'));
    await memories.putManifest('u', aManifest(version, { parent, files: { 'MEMORY.md': entry, B: extra } }));
  }
  const head: Head = {
    version: current,
    publishedAt: 1,
    summary: '',
    pendingNotes: [],
    places: [],
    epoch: 0,
    fence: null,
  };
  const reads = { head: 0 };
  const heads = {
    read: async () => {
      reads.head++;
      return head;
    },
  };
  return { stores: { heads, memories }, reads };
}

describe('openVersion', () => {
  it('opens the current version, with one read of the head', async () => {
    const { stores, reads } = await openStores();
    const files = await openVersion(stores, 'u');
    expect([files.version, files.paths, files.manifest?.version]).toEqual([4, ['B', 'MEMORY.md'], 4]);
    expect(decodeUtf8(await files.read('MEMORY.md'))).toBe('text 4');
    expect(reads.head).toBe(1);
  });

  it('opens an older version that the current one was built on', async () => {
    const { stores } = await openStores();
    const files = await openVersion(stores, 'u', 1);
    expect(files.version).toBe(1);
    expect(decodeUtf8(await files.read('MEMORY.md'))).toBe('text 1');
  });

  it.each([3, 5, 99, -1])('does not find version %i, which the head does not reach', async (version) => {
    const { stores } = await openStores();
    await expect(openVersion(stores, 'u', version)).rejects.toEqual(notFound('memory.version_not_found'));
  });

  it('opens the empty memory as version 0', async () => {
    const { stores } = await openStores(0);
    expect(await openVersion(stores, 'u')).toMatchObject({ version: 0, paths: [], manifest: null });
    expect(await openVersion((await openStores()).stores, 'u', 0)).toMatchObject({ version: 0, paths: [] });
  });

  it('fails where the manifest of the current version is missing', async () => {
    const { stores } = await openStores(7);
    await expect(openVersion(stores, 'u')).rejects.toMatchObject({ kind: 'defect', code: 'memory.manifest_missing' });
  });

  it('does not find a file that only the object prototype has', async () => {
    const { stores } = await openStores();
    await expect((await openVersion(stores, 'u')).read('constructor')).rejects.toEqual(notFound('path.not_found'));
  });
});

describe('treeFiles', () => {
  it('offers the paths in byte order and the contents', async () => {
    const files = treeFiles(treeOf({ b: '2', A: '1' }));
    expect(files.paths).toEqual(['A', 'b']);
    expect(decodeUtf8(await files.read('b'))).toBe('2');
    await expect(files.read('c')).rejects.toEqual(notFound('path.not_found'));
  });
});
