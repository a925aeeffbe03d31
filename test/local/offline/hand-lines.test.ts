import { describe, expect, it } from 'vitest';
import { keepHandLines, keptHandLines, readHandLines } from '../../../local/offline/hand-lines.ts';
import { parseMemoryText, renderMemoryText } from '../../../local/offline/memory-lines.ts';

const DIFF = [
  'diff --git a/MEMORY.md b/MEMORY.md',
  '--- a/MEMORY.md',
  '+++ b/MEMORY.md',
  '@@ -1,2 +1,5 @@',
  '+deploy from the green branch only',
  ' # Task Group: app',
  '-- gone',
  '+- never on Fridays [Task 1]',
  '+## Task 2: a heading is form',
  'diff --git a/memory_summary.md b/memory_summary.md',
  '+++ b/memory_summary.md',
  '+another file',
].join('\n');
const EMPTY = { head: [], groups: [] };

describe('lines written by hand', () => {
  it('are those that the diff adds to MEMORY.md, without dash, references and form', () => {
    expect(readHandLines(DIFF)).toEqual(['deploy from the green branch only', 'never on Fridays']);
    expect(readHandLines('no diff of it')).toEqual([]);
  });

  it('A31 are kept word for word over a rewrite, once, and over the next one too', () => {
    const once = renderMemoryText(keepHandLines(EMPTY, readHandLines(DIFF)));
    expect(once).toContain('- deploy from the green branch only (written by hand) [ad-hoc note]');
    expect(keptHandLines(once)).toEqual(readHandLines(DIFF));
    expect(renderMemoryText(keepHandLines(parseMemoryText(once), readHandLines(DIFF)))).toBe(once);
    expect(renderMemoryText(keepHandLines(EMPTY, keptHandLines(once)))).toBe(once);
  });

  it('are not added where the memory says them already', () => {
    const memory = parseMemoryText(renderMemoryText(keepHandLines(EMPTY, ['x y z'])));
    expect(keepHandLines(memory, ['x y'])).toBe(memory);
  });
});
