import { describe, expect, it } from 'vitest';
import { parseStemTime } from '../../../core/time.ts';
import { pruneExtensions } from '../../../core/workspace/extension-prune.ts';
import { treeOf } from '../../support/file-trees.ts';

const NOW = Date.parse('2026-04-14T12:00:00Z');
const R = 'extensions/chronicle/resources/';

describe('pruneExtensions', () => {
  it.each([
    ['TC-059', `${R}2026-04-06T11-59-59-abcd-10min-old.md`, true],
    ['TC-059 exactly 7 days', `${R}2026-04-07T12-00-00-abcd-10min-edge.md`, true],
    ['TC-059', `${R}2026-04-08T12-00-00-abcd-10min-new.md`, false],
    ['TC-059', `${R}not-a-timestamp.md`, false],
    ['TC-059 no instructions.md', 'extensions/bare/resources/2026-04-06T11-59-59-abcd-10min-old.md', false],
    ['TC-060', `${R}2026-04-07T12-00-01-x.md`, false],
    ['TC-060', `${R}2026-04-06T11-59-59.md`, true],
    ['TC-060', `${R}2026-04-06T11-59-59-x.txt`, false],
    ['TC-060', `${R}2026-13-06T11-59-59-x.md`, false],
    ['TC-060', `${R}2026-04-06.md`, false],
    ['TC-062', `${R}sub/2026-04-06T11-59-59-x.md`, false],
    ['TC-062', 'extensions/ad_hoc/notes/2020-04-06T11-59-59-x.md', false],
    ['not below extensions', 'skills/a/resources/2026-04-06T11-59-59-x.md', false],
  ])('%s: %s removed is %s', (_name, path, removed) => {
    const tree = treeOf({
      'extensions/chronicle/instructions.md': 'i',
      'extensions/ad_hoc/instructions.md': 'i',
      'skills/a/instructions.md': 'i',
      [path]: 'x',
    });
    const pruned = pruneExtensions(tree, NOW);
    expect(pruned.removed).toEqual(removed ? [path] : []);
    expect(pruned.tree.has(path)).toBe(!removed);
    expect(pruned.tree.size).toBe(removed ? 3 : 4);
    expect(tree.size).toBe(4);
  });

  it('TC-061 reads the time from the name', () => {
    expect(parseStemTime('2026-04-06T11-59-59-abcd-10min-old.md')).toBe(1_775_476_799_000);
  });
});
