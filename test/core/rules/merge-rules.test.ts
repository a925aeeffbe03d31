import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  mergeRules,
  RULES_BYTES,
  type RulesFile,
  type RulesFolder,
  rulesNames,
} from '../../../core/rules/merge-rules.ts';
import { projectFolders } from '../../../core/rules/project-folders.ts';
import { decodeUtf8, encodeUtf8, isBlank, utf8Length } from '../../../core/text.ts';

const file = (name: string, content: string | Uint8Array, source = name): RulesFile => {
  const bytes = typeof content === 'string' ? encodeUtf8(content) : content;
  return { name, source, content: bytes, bytes: bytes.length };
};
const user = (...files: readonly RulesFile[]): RulesFolder => ({ kind: 'user', files });
const project = (...files: readonly RulesFile[]): RulesFolder => ({ kind: 'project', files });
const agents = (text: string, source?: string): RulesFile => file('AGENTS.md', text, source);

describe('the folders whose rules hold', () => {
  const upward = ['/w/app/a/b', '/w/app/a', '/w/app', '/w', '/'];

  it.each([
    ['from the nearest marked folder down', ['/w/app', '/'], ['/w/app', '/w/app/a', '/w/app/a/b']],
    ['the directory alone where it is marked', ['/w/app/a/b', '/w/app'], ['/w/app/a/b']],
    ['the directory alone where nothing is marked (TC-290)', [], ['/w/app/a/b']],
    ['all of them from a marked root', ['/'], [...upward].reverse()],
  ])('%s', (_name, marked, expected) => {
    expect(projectFolders(upward, new Set(marked))).toEqual(expected);
  });
});

describe('merged rules', () => {
  it('TC-289: the override wins in its folder, texts are joined by an empty line', () => {
    const merged = mergeRules([
      project(agents('R', 'AGENTS.md')),
      project(agents('A', 'a/AGENTS.md'), file('AGENTS.override.md', 'O', 'a/AGENTS.override.md')),
    ]);
    expect(merged.text).toBe('R\n\nO');
    expect(merged.parts).toEqual([
      { source: 'AGENTS.md', bytes: 1, truncated: false, wholeBytes: 1 },
      { source: 'a/AGENTS.override.md', bytes: 1, truncated: false, wholeBytes: 1 },
    ]);
  });

  it('TC-290: the file that exceeds the budget is cut, later ones are left out, and both are told', () => {
    const merged = mergeRules([project(agents('abcd', 'x')), project(agents('e', 'y'))], { maxBytes: 3 });
    expect(merged.text).toBe('abc');
    expect(merged.parts).toEqual([
      { source: 'x', bytes: 3, truncated: true, wholeBytes: 4 },
      { source: 'y', bytes: 0, truncated: true, wholeBytes: 1 },
    ]);
    expect(mergeRules([project(agents('abcd'))], { maxBytes: 0 })).toEqual({ text: '', parts: [] });
  });

  it('TC-291: blank files are skipped and use no budget; the user comes first, whatever the order', () => {
    expect(mergeRules([project(agents(' \n\t')), project(agents('x'))], { maxBytes: 1 }).text).toBe('x');
    expect(mergeRules([user(agents('U')), project(agents('P'))]).text).toBe('U\n\n--- project-doc ---\n\nP');
    expect(mergeRules([project(agents('P')), user(agents('U'))]).text).toBe('U\n\n--- project-doc ---\n\nP');
    expect(mergeRules([user(agents('U')), user(agents('V')), project(agents(' '))]).text).toBe('U\n\nV');
  });

  it('fallback names count after the two, in their order; empty and repeated ones are ignored', () => {
    expect(rulesNames(['', 'CLAUDE.md', ' ', 'AGENTS.md', 'CLAUDE.md', 'G.md'])).toEqual([
      'AGENTS.override.md',
      'AGENTS.md',
      'CLAUDE.md',
      'G.md',
    ]);
    const both = project(file('G.md', 'g'), file('CLAUDE.md', 'c'));
    expect(mergeRules([both], { fallbackNames: ['CLAUDE.md', 'G.md'] }).text).toBe('c');
    expect(mergeRules([both]).text).toBe('');
    expect(mergeRules([project(file('CLAUDE.md', 'c'), agents('a'))], { fallbackNames: ['CLAUDE.md'] }).text).toBe('a');
  });

  it('a blank override silences its folder', () => {
    expect(mergeRules([project(agents('A'), file('AGENTS.override.md', '\n'))])).toEqual({ text: '', parts: [] });
  });

  it('a character that does not fit is left out whole; bytes that are no UTF-8 are replaced', () => {
    expect(mergeRules([project(agents('ab日'))], { maxBytes: 4 })).toMatchObject({
      text: 'ab',
      parts: [{ bytes: 2, truncated: true, wholeBytes: 5 }],
    });
    const broken = file('AGENTS.md', new Uint8Array([0x61, 0xe9, 0x62]));
    expect(mergeRules([project(broken)]).text).toBe('a\u{fffd}b');
    expect(mergeRules([project(broken)], { maxBytes: 3 })).toMatchObject({
      text: 'a',
      parts: [{ bytes: 1, truncated: true }],
    });
  });

  it('a file of which only the start was read is cut, also within a character', () => {
    const whole = encodeUtf8('日'.repeat(20_000));
    const start = { ...file('AGENTS.md', whole.subarray(0, RULES_BYTES + 4)), bytes: whole.length };
    const { text, parts } = mergeRules([project(start)]);
    expect(text).toBe('日'.repeat(Math.floor(RULES_BYTES / 3)));
    expect(parts).toEqual([{ source: 'AGENTS.md', bytes: utf8Length(text), truncated: true, wholeBytes: 60_000 }]);
  });
});

describe('for all documents', () => {
  const contents = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.constantFrom('', ' \n', '\u{feff}', '日本語', '🦓🦓', '--- project-doc ---', 'a\n'),
  );
  const names = fc.constantFrom('AGENTS.md', 'AGENTS.override.md', 'CLAUDE.md', 'README.md');
  const folders = fc.array(
    fc.record({
      kind: fc.constantFrom('user' as const, 'project' as const),
      files: fc.uniqueArray(fc.tuple(names, contents), { selector: ([name]) => name, maxLength: 4 }),
    }),
    { maxLength: 6 },
  );
  const options = fc.record({
    maxBytes: fc.integer({ min: 0, max: 120 }),
    fallbackNames: fc.constantFrom([], ['CLAUDE.md'], ['', 'CLAUDE.md', 'AGENTS.md']),
  });
  const build = (given: { kind: 'user' | 'project'; files: [string, string][] }[]): RulesFolder[] =>
    given.map(({ kind, files }, at) => ({
      kind,
      files: files.map(([name, text]) => file(name, text, `${at}/${name}`)),
    }));

  it('the budget is never exceeded, no character is torn, and each part is a start of its file', () => {
    fc.assert(
      fc.property(folders, options, (given, { maxBytes, fallbackNames }) => {
        const { text, parts } = mergeRules(build(given), { maxBytes, fallbackNames });
        expect(utf8Length(text)).toBeLessThanOrEqual(maxBytes);
        let rest = text;
        let before: 'user' | 'project' | undefined;
        for (const { source, bytes, truncated, wholeBytes } of parts) {
          const [at = '', name = ''] = source.split('/');
          const whole = decodeUtf8(encodeUtf8(given[Number(at)]?.files.find(([each]) => each === name)?.[1] ?? ''));
          expect(truncated ? bytes < wholeBytes : bytes === wholeBytes).toBe(true);
          if (bytes === 0) continue;
          const { kind } = given[Number(at)] ?? { kind: 'user' };
          const joint = before === 'user' && kind === 'project' ? '\n\n--- project-doc ---\n\n' : '\n\n';
          if (before !== undefined) {
            expect(rest.startsWith(joint)).toBe(true);
            rest = rest.slice(joint.length);
          }
          before = kind;
          const kept = decodeUtf8(encodeUtf8(rest).subarray(0, bytes));
          expect(whole.startsWith(kept)).toBe(true);
          expect(utf8Length(kept)).toBe(bytes);
          rest = rest.slice(kept.length);
        }
        expect(rest).toBe('');
        // What is cut or left out comes last, and every file that counts and says something is told.
        const cut = parts.findIndex(({ truncated }) => truncated);
        expect(cut < 0 || parts.slice(cut).every(({ truncated }) => truncated)).toBe(true);
        const told = maxBytes === 0 ? 0 : given.filter(({ files }) => says(files, fallbackNames)).length;
        expect(parts).toHaveLength(told);
      }),
      { numRuns: 500 },
    );
  });

  it('the order of files in a folder and files of other names change nothing', () => {
    fc.assert(
      fc.property(folders, options, (given, how) => {
        const turned = given.map(({ kind, files }) => ({
          kind,
          files: [...files.filter(([name]) => name !== 'README.md')].reverse(),
        }));
        expect(mergeRules(build(turned), how)).toEqual(mergeRules(build(given), how));
      }),
    );
  });

  function says(files: readonly (readonly [string, string])[], fallbackNames: readonly string[]): boolean {
    const counts = rulesNames(fallbackNames).find((name) => files.some(([each]) => each === name));
    return !isBlank(files.find(([each]) => each === counts)?.[1]);
  }
});
