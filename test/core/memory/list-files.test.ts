import { describe, expect, it } from 'vitest';
import { listFiles } from '../../../core/memory/list-files.ts';
import { treeFiles } from '../../../core/memory/memory-files.ts';
import { treeOf } from '../../support/file-trees.ts';

function filesOf(...paths: string[]) {
  return treeFiles(treeOf(Object.fromEntries(paths.map((path) => [path, 'x']))));
}
const refusal = (code: string) => expect.objectContaining({ code });

describe('listFiles', () => {
  it('TC-186 lists files and folders of the root', async () => {
    expect(await listFiles(filesOf('MEMORY.md', 'skills/example/SKILL.md'))).toEqual({
      path: '',
      entries: [
        { path: 'MEMORY.md', entry_type: 'file' },
        { path: 'skills', entry_type: 'directory' },
      ],
      next_cursor: null,
      truncated: false,
    });
  });

  it('TC-187 pages by cursor', async () => {
    const files = filesOf('MEMORY.md', 'memory_summary.md', 'rollout_summaries/a.md', 'skills/b.md');
    const first = await listFiles(files, { maxResults: 2 });
    expect(first.entries.map((entry) => entry.path)).toEqual(['MEMORY.md', 'memory_summary.md']);
    expect([first.next_cursor, first.truncated]).toEqual(['2', true]);
    const second = await listFiles(files, { maxResults: 2, cursor: first.next_cursor });
    expect(second.entries.map((entry) => entry.path)).toEqual(['rollout_summaries', 'skills']);
    expect([second.next_cursor, second.truncated]).toEqual([null, false]);
  });

  it('TC-189 lists one folder with root-relative paths and not its sub-folders', async () => {
    const listing = await listFiles(filesOf('skills/example/SKILL.md', 'skills/README.md', 'skillsX/a.md'), {
      path: './skills/',
    });
    expect(listing.entries.map((entry) => entry.path)).toEqual(['skills/README.md', 'skills/example']);
    expect(listing.path).toBe('./skills/');
  });

  it.each(['bogus', '2', '-1', '', ' 1', '1.0', '+1', '0x1', '99999999999999999999'])(
    'TC-190 refuses the cursor %j with one entry',
    async (cursor) => {
      await expect(listFiles(filesOf('MEMORY.md'), { cursor })).rejects.toEqual(refusal('cursor.invalid'));
    },
  );

  it('TC-190 answers an empty last page for a cursor at the end', async () => {
    const listing = await listFiles(filesOf('MEMORY.md'), { cursor: '1' });
    expect(listing).toMatchObject({ entries: [], next_cursor: null, truncated: false });
  });

  it.each([
    [0, 1],
    [-7, 1],
    [5000, 2000],
    [null, 2000],
  ])('TC-191 clamps max_results %j to %i', async (maxResults, count) => {
    const files = filesOf(...Array.from({ length: 2100 }, (_, at) => `f${at}`));
    expect((await listFiles(files, { maxResults })).entries).toHaveLength(count);
  });

  it('TC-192 lists the one file that a path names', async () => {
    expect((await listFiles(filesOf('MEMORY.md', 'a.md'), { path: 'MEMORY.md' })).entries).toEqual([
      { path: 'MEMORY.md', entry_type: 'file' },
    ]);
  });

  it('TC-192 does not find a missing path', async () => {
    await expect(listFiles(filesOf('MEMORY.md'), { path: 'nope' })).rejects.toEqual(refusal('path.not_found'));
  });

  it('TC-185 refuses a file in the middle of a path, and does not find a missing folder', async () => {
    await expect(listFiles(filesOf('MEMORY.md'), { path: 'MEMORY.md/x' })).rejects.toEqual(refusal('path.invalid'));
    await expect(listFiles(filesOf('MEMORY.md'), { path: 'missing/x' })).rejects.toEqual(refusal('path.not_found'));
  });

  it('sorts by the bytes of entry paths, a folder before the file that extends its name', async () => {
    const listing = await listFiles(filesOf('b', 'a.txt', 'a/x', 'B', 'é', '\u{1f600}', '\uffee'));
    expect(listing.entries.map((entry) => entry.path)).toEqual(['B', 'a', 'a.txt', 'b', 'é', '\uffee', '\u{1f600}']);
  });

  it('lists an empty memory as an empty root', async () => {
    expect((await listFiles(filesOf(), { path: '.' })).entries).toEqual([]);
  });
});
