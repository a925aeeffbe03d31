import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitSections } from '../../../core/memory/text-sections.ts';
import { isBlank } from '../../../core/text.ts';

describe('splitSections', () => {
  it('takes headings, bullets and paragraphs apart, each with the headings it stands under', () => {
    const lines = ['# A', 'scope: x', '', '## B', '- one', '  more', '- two', '', 'A paragraph', 'of two lines', '# C'];
    expect(splitSections(lines)).toEqual([
      { first: 0, last: 1, trail: ['A'] },
      { first: 3, last: 3, trail: ['A', 'B'] },
      { first: 4, last: 5, trail: ['A', 'B'] },
      { first: 6, last: 6, trail: ['A', 'B'] },
      { first: 8, last: 9, trail: ['A', 'B'] },
      { first: 10, last: 10, trail: ['C'] },
    ]);
  });

  it('leaves a block of code in one piece', () => {
    expect(splitSections(['- run', '```', '# no heading', '- no bullet', '', 'x', '```', '- next'])).toEqual([
      { first: 0, last: 6, trail: [] },
      { first: 7, last: 7, trail: [] },
    ]);
  });

  it('gives every line that is not blank to exactly one section, in order', () => {
    const line = fc.oneof(fc.constantFrom('', '# a', '## b', '- c', '  d', '```', 'e', '\u00a0'), fc.string());
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const sections = splitSections(lines);
        const owners = lines.map((_, at) => sections.filter(({ first, last }) => first <= at && at <= last).length);
        expect(owners.every((count, at) => count === 1 || (count === 0 && isBlank(lines[at])))).toBe(true);
        expect(
          sections.every(({ first, last }, at) => first <= last && last < (sections[at + 1]?.first ?? lines.length)),
        );
      }),
    );
  });
});
