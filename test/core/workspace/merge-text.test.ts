import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeText } from '../../../core/workspace/merge-text.ts';

const BASE = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n';

describe('mergeText', () => {
  it('takes the edit where nothing else changed', () => {
    expect(mergeText(BASE, BASE.replace('two', 'TWO'), BASE)).toBe(BASE.replace('two', 'TWO'));
  });

  it('keeps what changed meanwhile where nothing was edited', () => {
    expect(mergeText(BASE, BASE, BASE.replace('two', 'TWO'))).toBe(BASE.replace('two', 'TWO'));
  });

  it('keeps both where they changed different lines', () => {
    const merged = mergeText(BASE, BASE.replace('one', 'ONE'), BASE.replace('eight', 'EIGHT'));
    expect(merged).toBe(BASE.replace('one', 'ONE').replace('eight', 'EIGHT'));
  });

  it('refuses to guess where both changed the same line', () => {
    expect(mergeText(BASE, BASE.replace('two', 'mine'), BASE.replace('two', 'theirs'))).toBeUndefined();
  });

  it('never loses an edited line: the merge holds every line that the edit added', () => {
    const line = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.map((item) => `${item}\n`).join(''));
    fc.assert(
      fc.property(text, text, fc.nat({ max: 12 }), (base, current, at) => {
        const lines = base.split('\n');
        lines.splice(Math.min(at, lines.length - 1), 0, 'MINE');
        const merged = mergeText(base, lines.join('\n'), current);
        if (merged !== undefined) expect(merged.split('\n')).toContain('MINE');
      }),
    );
  });
});
