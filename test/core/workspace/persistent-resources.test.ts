import { describe, expect, it } from 'vitest';
import { decodeUtf8, encodeUtf8 } from '../../../core/text.ts';
import type { FileTree } from '../../../core/workspace/file-tree.ts';
import {
  type ExtensionContent,
  type ExtensionSync,
  needsExtensionSync,
  planExtensionSync,
} from '../../../core/workspace/persistent-resources.ts';

const resource = (sourceId: string, targetFileName: string, text: string) => ({
  sourceId,
  targetFileName,
  content: encodeUtf8(text),
});
const content = (resources: ExtensionContent['resources'], instructions = 'Read them.'): ExtensionContent => ({
  extension: 'docs',
  instructions: encodeUtf8(instructions),
  resources,
});
const A = resource('a', 'index-a.md', 'first');
const B = resource('b', 'topic-b.md', 'second');

function applied(files: FileTree, { edits }: ExtensionSync): FileTree {
  const next = new Map(files);
  for (const [path, text] of edits) {
    if (text === null) next.delete(path);
    else next.set(path, text);
  }
  return next;
}
const sync = (files: FileTree, wanted: ExtensionContent) => applied(files, planExtensionSync(files, wanted));
const EMPTY: FileTree = new Map();

describe('persistent resources (K-06 to K-09)', () => {
  it('TC-064 writes what is new, removes what is not wanted any more, and leaves what is somebody else’s', () => {
    const first = planExtensionSync(EMPTY, content([A, B]));
    expect(first).toMatchObject({ written: ['index-a.md', 'topic-b.md'], removed: [], unchanged: 0 });
    const files = new Map([
      ...applied(EMPTY, first),
      ['extensions/docs/resources/own.md', encodeUtf8('mine')] as const,
    ]);
    expect(needsExtensionSync(files, content([A, B]))).toBe(false);

    const changed = content([resource('a', 'index-a.md', 'changed')], 'Read it.');
    const second = planExtensionSync(files, changed);
    expect(second).toMatchObject({ written: ['index-a.md'], removed: ['topic-b.md'], unchanged: 0 });
    const after = applied(files, second);
    expect([...after.keys()].sort()).toEqual([
      'extensions/docs/instructions.md',
      'extensions/docs/manifest.json',
      'extensions/docs/resources/index-a.md',
      'extensions/docs/resources/own.md',
    ]);
    expect(decodeUtf8(after.get('extensions/docs/instructions.md') ?? new Uint8Array())).toBe('Read it.');
  });

  it('TC-065 writes nothing the second time', () => {
    const files = sync(EMPTY, content([A, B]));
    expect(planExtensionSync(files, content([A, B]))).toEqual({
      edits: new Map(),
      written: [],
      removed: [],
      unchanged: 2,
    });
  });

  it.each([
    ['a/b', [A], 'extension.invalid_name'],
    ['..', [A], 'extension.invalid_name'],
    ['', [A], 'extension.invalid_name'],
    ['a\\b', [A], 'extension.invalid_name'],
    ['docs', [resource('x', 'x.txt', '')], 'extension.invalid_target'],
    ['docs', [resource('x', '../x.md', '')], 'extension.invalid_target'],
    ['docs', [resource('x', '', '')], 'extension.invalid_target'],
    ['docs', [resource('', 'x.md', '')], 'extension.invalid_source'],
    ['docs', [A, resource('a', 'other.md', '')], 'extension.invalid_source'],
    ['docs', [A, resource('c', 'index-a.md', '')], 'extension.duplicate_target'],
  ])('TC-066 refuses %j with %j before anything', (extension, resources, code) => {
    const wanted = { ...content(resources), extension };
    expect(() => planExtensionSync(EMPTY, wanted)).toThrow(expect.objectContaining({ code }));
    expect(() => needsExtensionSync(EMPTY, wanted)).toThrow(expect.objectContaining({ code }));
  });

  it('TC-067 needs nothing where there is neither folder nor resource, and something where the manifest is broken', () => {
    expect(needsExtensionSync(EMPTY, content([]))).toBe(false);
    expect(needsExtensionSync(EMPTY, content([A]))).toBe(true);
    for (const broken of ['', '{', '[]', '{"version":2,"resources":{}}']) {
      const files = new Map([
        ...sync(EMPTY, content([A])),
        ['extensions/docs/manifest.json', encodeUtf8(broken)] as const,
      ]);
      expect(needsExtensionSync(files, content([A])), broken).toBe(true);
      expect(planExtensionSync(files, content([])).removed, 'a broken manifest lists nothing').toEqual([]);
    }
  });

  it.each([
    ['the instructions', content([A], 'Others.')],
    ['a text', content([resource('a', 'index-a.md', 'other')])],
    ['a name', content([resource('a', 'renamed.md', 'first')])],
    ['a source', content([resource('z', 'index-a.md', 'first')])],
  ])('K-08 needs a sync where %s is another', (_, wanted) => {
    expect(needsExtensionSync(sync(EMPTY, content([A])), wanted)).toBe(true);
  });

  it('K-07 writes the manifest pretty-printed, sorted by id, with a final line end, as JSON whatever the ids', () => {
    const files = sync(
      EMPTY,
      content([resource('b"\n', 'b.md', 'x'), resource('10', 'a.md', 'y'), resource('9', 'c.md', 'z')]),
    );
    const text = decodeUtf8(files.get('extensions/docs/manifest.json') ?? new Uint8Array());
    expect(text.endsWith('}\n')).toBe(true);
    expect(text).toContain('{\n  "version": 1,\n  "resources": {\n    "10": {\n      "targetFileName": "a.md",');
    expect([...text.matchAll(/targetFileName": "(.)/g)].map((match) => match[1])).toEqual(['a', 'c', 'b']);
    expect(JSON.parse(text)).toMatchObject({ version: 1, resources: { 'b"\n': { targetFileName: 'b.md' } } });
    expect(decodeUtf8(sync(EMPTY, content([])).get('extensions/docs/manifest.json') ?? new Uint8Array())).toBe(
      '{\n  "version": 1,\n  "resources": {}\n}\n',
    );
  });

  it('never removes outside of its folder, whatever a manifest says', () => {
    const forged = JSON.stringify({
      version: 1,
      resources: { x: { targetFileName: '../../../MEMORY.md', contentSha256: '' } },
    });
    const files = new Map([
      ['MEMORY.md', encodeUtf8('kept')],
      ['extensions/docs/manifest.json', encodeUtf8(forged)],
    ]);
    expect(planExtensionSync(files, content([])).removed).toEqual([]);
  });
});
