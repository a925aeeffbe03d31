import { describe, expect, it } from 'vitest';
import { treeFiles } from '../../../core/memory/memory-files.ts';
import { type SearchRequest, searchFiles } from '../../../core/memory/search-files.ts';
import { treeOf } from '../../support/file-trees.ts';

const refusal = (code: string) => expect.objectContaining({ code });

async function searchText(text: string, request: SearchRequest) {
  return (await searchFiles(treeFiles(treeOf({ 'a.md': text })), request)).matches;
}
async function linesFound(text: string, request: SearchRequest) {
  return (await searchText(text, request)).map((match) => match.match_line_number);
}
const within = (lineCount: number) => ({ type: 'all_within_lines', line_count: lineCount }) as const;

describe('searchFiles', () => {
  it('TC-200 finds lines that hold any query', async () => {
    const files = treeFiles(treeOf({ 'a.md': 'alpha only\nneedle only\nalpha needle\n' }));
    expect(await searchFiles(files, { queries: ['alpha', 'needle'] })).toEqual({
      queries: ['alpha', 'needle'],
      match_mode: { type: 'any' },
      path: null,
      matches: [
        { line: 1, text: 'alpha only', seen: ['alpha'] },
        { line: 2, text: 'needle only', seen: ['needle'] },
        { line: 3, text: 'alpha needle', seen: ['alpha', 'needle'] },
      ].map(({ line, text, seen }) => ({
        path: 'a.md',
        match_line_number: line,
        content_start_line_number: line,
        content: text,
        matched_queries: seen,
      })),
      next_cursor: null,
      truncated: false,
    });
  });

  it('TC-201 finds a window of three lines, and none in two', async () => {
    const text = 'alpha\nmiddle\nneedle\n';
    expect(await searchText(text, { queries: ['needle', 'alpha'], matchMode: within(3) })).toEqual([
      {
        path: 'a.md',
        match_line_number: 1,
        content_start_line_number: 1,
        content: 'alpha\nmiddle\nneedle',
        matched_queries: ['needle', 'alpha'],
      },
    ]);
    expect(await searchText(text, { queries: ['alpha', 'needle'], matchMode: within(2) })).toEqual([]);
  });

  it('TC-202 drops a window that contains another', async () => {
    const found = await searchText('alpha\nalpha\nneedle\nalpha\n', {
      queries: ['alpha', 'needle'],
      matchMode: within(3),
    });
    expect(found.map((match) => [match.match_line_number, match.content])).toEqual([
      [2, 'alpha\nneedle'],
      [3, 'needle\nalpha'],
    ]);
  });

  it.each([
    ['TC-204 windows that overlap', 'b\na\nb\na\n', { queries: ['a', 'b'], matchMode: within(2) }, [1, 2, 3]],
    ['one line is a window', 'a b\na\nb\n', { queries: ['a', 'b'], matchMode: within(3) }, [1, 2]],
    ['TC-205', 'alpha beta\n', { queries: ['alpha', 'beta'], matchMode: { type: 'all_on_same_line' } }, [1]],
    ['TC-205', 'alpha\nbeta\n', { queries: ['alpha', 'beta'], matchMode: { type: 'all_on_same_line' } }, []],
    [
      'TC-207',
      'Foo-Bar\nfoo_bar\nfoobar\nfoo bar\n',
      { queries: ['foobar'], normalized: true, caseSensitive: false },
      [1, 2, 3, 4],
    ],
    ['normalized with case', 'Foo-Bar\nfoo_bar\n', { queries: ['foo-bar'], normalized: true }, [2]],
    ['TC-212 case counts by default', 'Needle\nneedle\n', { queries: ['needle'] }, [2]],
    ['case off', 'Needle\nNEEDLE\n', { queries: ['needle'], caseSensitive: false }, [1, 2]],
    ['a query is text, not a pattern', 'a.c\nabc\n', { queries: ['a.c'] }, [1]],
    ['an empty line matches nothing', '\n\nx\n', { queries: ['x'] }, [3]],
  ] as const)('%s: finds in %j with %j the lines %j', async (_name, text, request, lines) => {
    expect(await linesFound(text, request)).toEqual(lines);
  });

  it('TC-206 widens the content by context, clipped at the ends', async () => {
    const found = await searchText('alpha\nneedle\nomega\nneedle again\n', { queries: ['needle'], contextLines: 1 });
    expect(found.map((match) => [match.match_line_number, match.content_start_line_number, match.content])).toEqual([
      [2, 1, 'alpha\nneedle\nomega'],
      [4, 3, 'omega\nneedle again'],
    ]);
  });

  it.each([
    ['TC-209', { queries: [] }, 'search.empty_query'],
    ['TC-209', { queries: ['  '] }, 'search.empty_query'],
    ['TC-209', { queries: ['ok', ' '] }, 'search.empty_query'],
    ['TC-209', { queries: ['--'], normalized: true }, 'search.empty_query'],
    ['TC-214', { queries: ['a'], matchMode: within(0) }, 'search.invalid_window'],
    ['cursor', { queries: ['alpha'], cursor: '2' }, 'cursor.invalid'],
    ['path', { queries: ['alpha'], path: '../x' }, 'path.invalid'],
    ['path', { queries: ['alpha'], path: 'nope' }, 'path.not_found'],
  ] as const)('%s: refuses %j as %s', async (_name, request, code) => {
    await expect(searchText('alpha\n', request)).rejects.toEqual(refusal(code));
  });

  it('TC-210 reports queries trimmed, and the same query twice', async () => {
    const result = await searchFiles(treeFiles(treeOf({ 'a.md': 'xay\n' })), { queries: [' a ', 'a'] });
    expect(result.queries).toEqual(['a', 'a']);
    expect(result.matches[0]?.matched_queries).toEqual(['a', 'a']);
  });

  it('TC-211 drops a CR before the LF', async () => {
    expect((await searchText('one\r\ntwo\r\n', { queries: ['one'] }))[0]?.content).toBe('one');
  });

  it('TC-215 sorts by the whole path, then by line', async () => {
    const files = treeFiles(treeOf({ 'a/b.md': 'x\nx\n', 'a.md': 'x\n', Z: 'x' }));
    const { matches } = await searchFiles(files, { queries: ['x'] });
    expect(matches.map((match) => `${match.path}:${match.match_line_number}`)).toEqual([
      'Z:1',
      'a.md:1',
      'a/b.md:1',
      'a/b.md:2',
    ]);
  });

  it('TC-216 skips a file that is not UTF-8', async () => {
    const files = treeFiles(treeOf({ 'a.md': new Uint8Array([0x78, 0xff]), 'b.md': 'x' }));
    expect((await searchFiles(files, { queries: ['x'] })).matches.map((match) => match.path)).toEqual(['b.md']);
  });

  it('searches below a folder or in one file only', async () => {
    const files = treeFiles(treeOf({ 'a/b.md': 'x', 'a.md': 'x', 'ab/c.md': 'x' }));
    const paths = async (path: string) =>
      (await searchFiles(files, { queries: ['x'], path })).matches.map((match) => match.path);
    expect(await paths('a/')).toEqual(['a/b.md']);
    expect(await paths('a.md')).toEqual(['a.md']);
    expect(await paths('.')).toEqual(['a.md', 'a/b.md', 'ab/c.md']);
  });

  it('TC-191 pages after sorting, at most 200 a page', async () => {
    const files = treeFiles(treeOf({ 'b.md': 'x\n'.repeat(150), 'a.md': 'x\n'.repeat(150) }));
    const first = await searchFiles(files, { queries: ['x'], maxResults: 5000 });
    expect([first.matches.length, first.next_cursor, first.truncated]).toEqual([200, '200', true]);
    const rest = await searchFiles(files, { queries: ['x'], cursor: '200' });
    expect(rest.matches.map((match) => match.match_line_number)).toEqual(
      Array.from({ length: 100 }, (_, at) => at + 51),
    );
    expect([rest.next_cursor, rest.truncated]).toEqual([null, false]);
  });

  describe('user case B27: other scripts', () => {
    it.each([
      ['Chinese', '记忆系统', '记忆'],
      ['Hangul, composed and decomposed', '한국어 메모'.normalize('NFD'), '한국어'],
      ['Cyrillic', 'память агента', 'память'],
      ['Thai', 'ความจำ', 'จำ'],
      ['accented Latin, text decomposed', 'cafe\u0301 au lait', 'café'],
      ['accented Latin, query decomposed', 'café au lait', 'cafe\u0301'],
      ['full-width text', 'ＡＰＩ　ｋｅｙ', 'API key'],
      ['full-width query', 'API key', 'ＡＰＩ'],
    ])('finds %s, plain and normalized', async (_name, text, query) => {
      expect(await linesFound(text, { queries: [query] })).toEqual([1]);
      expect(await linesFound(text, { queries: [query], normalized: true, caseSensitive: false })).toEqual([1]);
    });

    it('finds a Greek word in capitals by its small letters', async () => {
      expect(await linesFound('ΟΔΟΣ', { queries: ['οδοσ'], caseSensitive: false })).toEqual([1]);
    });

    it('shows the text as it stands in the file', async () => {
      expect((await searchText('cafe\u0301', { queries: ['café'] }))[0]?.content).toBe('cafe\u0301');
    });
  });
});
