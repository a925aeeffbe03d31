import { applyPatch } from 'diff';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { charBoundaryBefore, decodeUtf8, encodeUtf8 } from '../../../core/text.ts';
import type { FileTree } from '../../../core/workspace/file-tree.ts';
import {
  applyChanges,
  diffTrees,
  formatDiffFile,
  renderDiffFile,
  renderUnifiedDiff,
} from '../../../core/workspace/workspace-diff.ts';
import { treeOf } from '../../support/file-trees.ts';

const LIMIT = 4_194_304;
/** As many bytes as the limit, in lines of 1 KB. */
const longText = (char: string) => `${char.repeat(1023)}\n`.repeat(LIMIT / 1024);
const statusOf = (base: FileTree, current: FileTree) =>
  diffTrees(base, current).map((change) => `${change.status} ${change.path}`);

describe('diffTrees', () => {
  it('TC-049 sees a new note as one addition', () => {
    const note = 'extensions/ad_hoc/notes/2026-05-26T13-42-08-x.md';
    expect(statusOf(treeOf({ 'MEMORY.md': 'm' }), treeOf({ 'MEMORY.md': 'm', [note]: 'n' }))).toEqual([`A ${note}`]);
  });

  it('TC-050 sees a moved file as a deletion and an addition, in path order', () => {
    expect(statusOf(treeOf({ 'a.md': 'x' }), treeOf({ 'b.md': 'x' }))).toEqual(['D a.md', 'A b.md']);
  });

  it('TC-052 consults no ignore file', () => {
    const base = treeOf({ 'skills/ignore': '*.md' });
    expect(statusOf(base, treeOf({ 'skills/ignore': '*.md', 'a.md': 'x' }))).toEqual(['A a.md']);
  });

  it('TC-047 finds nothing where only the diff file was written', () => {
    expect(statusOf(treeOf({ m: 'memory' }), treeOf({ m: 'memory', 'phase2_workspace_diff.md': 'd' }))).toEqual([]);
  });

  it('compares bytes, not decoded text', () => {
    expect(statusOf(treeOf({ a: new Uint8Array([0xff]) }), treeOf({ a: new Uint8Array([0xfe]) }))).toEqual(['M a']);
  });

  it('sorts by path bytes', () => {
    const paths = ['b', 'B', 'a/x', 'a.x', 'é', '\u{1f600}', '\uffee'];
    expect(statusOf(new Map(), treeOf(Object.fromEntries(paths.map((path) => [path, 'x']))))).toEqual(
      ['B', 'a.x', 'a/x', 'b', 'é', '\uffee', '\u{1f600}'].map((path) => `A ${path}`),
    );
  });

  const contents = fc.oneof(fc.uint8Array({ maxLength: 6 }), fc.constantFrom('a\n', 'a', '').map(encodeUtf8));
  const trees = fc
    .dictionary(fc.constantFrom('MEMORY.md', 'a', 'a/b', 'skills/x/SKILL.md', 'é'), contents)
    .map((files): FileTree => new Map(Object.entries(files)));

  it('gives changes that lead from one tree to the other, and none between equal ones', () => {
    fc.assert(
      fc.property(trees, trees, (base, current) => {
        const changes = diffTrees(base, current);
        expect(new Map([...applyChanges(base, changes)].sort())).toEqual(new Map([...current].sort()));
        expect(diffTrees(current, new Map(current))).toEqual([]);
        expect(changes.every((change) => change.before !== change.after)).toBe(true);
      }),
    );
  });

  it('looks into changed files only', () => {
    const base = new Map(Array.from({ length: 4096 }, (_, at) => [`f${at}`, encodeUtf8(`${at}\n`.repeat(200))]));
    const current = new Map(base).set('f7', encodeUtf8('new\n'));
    const changes = diffTrees(base, current);
    expect(changes.map((change) => change.path)).toEqual(['f7']);
    expect(renderDiffFile(changes).length).toBeLessThan(2_000);
  });
});

describe('renderUnifiedDiff', () => {
  it.each([
    [
      'an added file',
      {},
      { 'a.md': 'one\ntwo\n' },
      'diff --git a/a.md b/a.md\nnew file mode 100644\n--- /dev/null\n+++ b/a.md\n@@ -0,0 +1,2 @@\n+one\n+two\n',
    ],
    [
      'a deleted file without a final LF',
      { 'a.md': 'one' },
      {},
      'diff --git a/a.md b/a.md\ndeleted file mode 100644\n--- a/a.md\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-one\n\\ No newline at end of file\n',
    ],
    [
      'a changed file, with three lines of context',
      { 'a.md': '1\n2\n3\n4\n5\n6\n7\n8\n9\n' },
      { 'a.md': '1\n2\n3\n4\nfive\n6\n7\n8\n9\n' },
      'diff --git a/a.md b/a.md\n--- a/a.md\n+++ b/a.md\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n',
    ],
    [
      'an empty added file',
      {},
      { 'a.md': '' },
      'diff --git a/a.md b/a.md\nnew file mode 100644\n--- /dev/null\n+++ b/a.md\n',
    ],
    [
      'bytes that are not UTF-8, lossily',
      {},
      { b: new Uint8Array([0x61, 0xff, 0x0a]) },
      'diff --git a/b b/b\nnew file mode 100644\n--- /dev/null\n+++ b/b\n@@ -0,0 +1,1 @@\n+a\ufffd\n',
    ],
  ])('shows %s', (_name, base, current, expected) => {
    expect(renderUnifiedDiff(diffTrees(treeOf(base), treeOf(current)))).toBe(expected);
  });

  it('TC-050 shows a moved file in two sections', () => {
    const diff = renderUnifiedDiff(diffTrees(treeOf({ 'a.md': 'x\n' }), treeOf({ 'b.md': 'x\n' })));
    expect(diff.match(/^diff --git .*$/gm)).toEqual(['diff --git a/a.md b/a.md', 'diff --git a/b.md b/b.md']);
  });

  it('gives patches that apply', () => {
    const texts = fc
      .array(fc.constantFrom('a', 'b', 'c', 'é', '', '-', '+x', '@@ -1,1 +1,1 @@'), { maxLength: 30 })
      .chain((lines) => fc.constantFrom('\n', '').map((end) => lines.join('\n') + end));
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        fc.pre(before !== after);
        const changes = diffTrees(treeOf({ f: before }), treeOf({ f: after }));
        expect(applyPatch(before, renderUnifiedDiff(changes).replace(/^diff .*\n/, ''))).toBe(after);
      }),
    );
  });

  it('shows a file with very many edits as replaced, and the patch still applies', () => {
    const before = Array.from({ length: 5_000 }, (_, at) => `old ${at}\nsame\n`).join('');
    const after = Array.from({ length: 5_000 }, (_, at) => `new ${at}\nsame\n`).join('');
    const diff = renderUnifiedDiff(diffTrees(treeOf({ f: before }), treeOf({ f: after })));
    expect(diff).toContain('@@ -1,10000 +1,10000 @@\n-old 0\n-same\n');
    expect(applyPatch(before, diff.replace(/^diff .*\n/, ''))).toBe(after);
  });
});

describe('renderDiffFile', () => {
  it('says that nothing changed', () => {
    expect(renderDiffFile([])).toMatch(/^# Memory Workspace Diff\n\n[^\n]+\n\n## Status\n- none\n$/);
  });

  it('TC-044 lists the status, then the fenced diff', () => {
    const file = formatDiffFile([{ status: 'A', path: 'MEMORY.md' }], '+memory\n');
    expect(file.slice(file.indexOf('## Status'))).toBe(
      '## Status\n- A MEMORY.md\n\n## Diff\n\n```diff\n+memory\n```\n',
    );
  });

  it('TC-045 ends the last diff line before the closing fence', () => {
    expect(formatDiffFile([{ status: 'A', path: 'a' }], '+x')).toContain('```diff\n+x\n```\n');
  });

  it('TC-041 cuts a diff that is too long and says so', () => {
    const file = formatDiffFile([{ status: 'M', path: 'MEMORY.md' }], 'x'.repeat(LIMIT + 128));
    expect(file).toContain('- M MEMORY.md\n');
    expect(file.endsWith(`x\n\n[workspace diff truncated at ${LIMIT} bytes]\n\`\`\`\n`)).toBe(true);
    expect(file.split('x').length - 1).toBeGreaterThanOrEqual(LIMIT);
  });

  it('TC-042 keeps a diff of exactly the limit', () => {
    expect(formatDiffFile([{ status: 'M', path: 'a' }], 'x'.repeat(LIMIT))).not.toContain('truncated');
  });

  it('cuts at a character boundary', () => {
    const file = formatDiffFile([{ status: 'M', path: 'a' }], `${'x'.repeat(LIMIT - 1)}é`);
    expect(file).toContain('x\n\n[workspace diff truncated');
    expect(file).not.toContain('\ufffd');
  });

  it.each([
    [2, 1],
    [3, 3],
    [1, 1],
    [0, 0],
  ])('TC-046 the boundary of "aé" before %i is %i', (limit, boundary) => {
    expect(charBoundaryBefore(encodeUtf8('aé'), limit)).toBe(boundary);
  });

  it('never cuts the status of a deletion, however long the diff before it', () => {
    const base = new Map([['z.md', encodeUtf8('gone\n')]]);
    const current = new Map([
      ['a.md', encodeUtf8(longText('x'))],
      ['b.md', encodeUtf8(longText('y'))],
    ]);
    const file = renderDiffFile(diffTrees(base, current));
    expect(file).toContain('- A a.md\n- A b.md\n- D z.md\n');
    expect(file).toContain(`[workspace diff truncated at ${LIMIT} bytes]\n\`\`\`\n`);
    expect(file.length).toBeLessThan(LIMIT + 10_000);
  });

  it('cuts where a full rendering would have been cut', () => {
    const current = treeOf({ a: longText('x'), b: 'é\n'.repeat(10) });
    const changes = diffTrees(new Map(), current);
    expect(renderDiffFile(changes)).toBe(formatDiffFile(changes, renderUnifiedDiff(changes)));
    expect(decodeUtf8(encodeUtf8(renderDiffFile(changes)))).toBe(renderDiffFile(changes));
  });
});
