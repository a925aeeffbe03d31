import { describe, expect, it } from 'vitest';
import { treeFiles } from '../../../core/memory/memory-files.ts';
import { type ReadRequest, readFile } from '../../../core/memory/read-file.ts';
import { treeOf } from '../../support/file-trees.ts';

const filesOf = (content: string | Uint8Array) => treeFiles(treeOf({ 'a/b.md': content, 'MEMORY.md': content }));
const refusal = (code: string) => expect.objectContaining({ code });

describe('readFile', () => {
  it.each<[string, string, Omit<ReadRequest, 'path'>, string, boolean]>([
    ['TC-194', 'alpha\nbeta\ngamma\n', { lineOffset: 2 }, 'beta\ngamma\n', false],
    ['TC-195', 'alpha\nbeta\ngamma\n', { lineOffset: 2, maxLines: 1 }, 'beta\n', true],
    ['TC-195', 'alpha\nbeta\ngamma\n', { lineOffset: 2, maxLines: 2 }, 'beta\ngamma\n', false],
    ['TC-195', 'alpha\nbeta\ngamma\n', { lineOffset: 3, maxLines: 1 }, 'gamma\n', false],
    ['TC-196', 'only\n', { lineOffset: 2 }, '', false],
    ['TC-197', '', { lineOffset: 1 }, '', false],
    [
      'TC-199',
      'first line\nsecond needle line\nthird line\n',
      { lineOffset: 2, maxLines: 1 },
      'second needle line\n',
      true,
    ],
    ['all lines by default', 'a\r\nb', {}, 'a\r\nb', false],
    ['more lines than there are', 'a\nb', { maxLines: 9 }, 'a\nb', false],
  ])('%s reads %j with %j', async (_name, text, request, content, truncated) => {
    expect(await readFile(filesOf(text), { path: 'MEMORY.md', ...request })).toEqual({
      path: 'MEMORY.md',
      start_line_number: request.lineOffset ?? 1,
      content,
      truncated,
    });
  });

  it.each([
    ['TC-196', 'only\n', { lineOffset: 0 }, 'read.invalid_offset'],
    ['TC-196', 'only\n', { maxLines: 0 }, 'read.invalid_max_lines'],
    ['TC-196', 'only\n', { lineOffset: 3 }, 'read.past_end'],
    ['TC-197', 'only', { lineOffset: 2 }, 'read.past_end'],
    ['TC-197', '', { lineOffset: 2 }, 'read.past_end'],
  ])('%s refuses %j with %j as %s', async (_name, text, request, code) => {
    await expect(readFile(filesOf(text), { path: 'MEMORY.md', ...request })).rejects.toEqual(refusal(code));
  });

  it.each([
    ['TC-174', './MEMORY.md'],
    ['TC-175', 'a/./b.md'],
    ['TC-175', 'a//b.md'],
  ])('%s reads %j and repeats the path as written', async (_name, path) => {
    expect((await readFile(filesOf('x\n'), { path })).path).toBe(path);
  });

  it.each([
    ['TC-175', 'a/', 'read.not_a_file'],
    ['TC-176', '', 'read.not_a_file'],
    ['TC-176', '.', 'read.not_a_file'],
    ['TC-176', './', 'read.not_a_file'],
    ['TC-182', '..\\secret', 'path.not_found'],
    ['TC-182', 'C:\\x', 'path.not_found'],
    ['TC-185', 'MEMORY.md/x', 'path.invalid'],
    ['TC-185', 'missing/x', 'path.not_found'],
  ])('%s refuses the path %j as %s', async (_name, path, code) => {
    await expect(readFile(filesOf('x\n'), { path })).rejects.toEqual(refusal(code));
  });

  it('checks offset, then max_lines, before it looks at the path', async () => {
    await expect(readFile(filesOf(''), { path: '../x', lineOffset: 0, maxLines: 0 })).rejects.toEqual(
      refusal('read.invalid_offset'),
    );
    await expect(readFile(filesOf(''), { path: '../x', maxLines: 0 })).rejects.toEqual(
      refusal('read.invalid_max_lines'),
    );
  });

  it('TC-216 refuses a file that is not UTF-8', async () => {
    await expect(readFile(filesOf(new Uint8Array([0x61, 0xff])), { path: 'MEMORY.md' })).rejects.toEqual(
      refusal('read.not_text'),
    );
  });

  it('TC-172 keeps 80,000 bytes whole and cuts one token more in the middle', async () => {
    const whole = await readFile(filesOf('x'.repeat(80_000)), { path: 'MEMORY.md' });
    expect([whole.content.length, whole.truncated]).toEqual([80_000, false]);
    const cut = await readFile(filesOf('x'.repeat(80_004)), { path: 'MEMORY.md' });
    expect(cut.content).toBe(`${'x'.repeat(40_000)}…1 tokens truncated…${'x'.repeat(40_000)}`);
    expect(cut.truncated).toBe(true);
  });
});
