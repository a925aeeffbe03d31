import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkNoteName, checkNoteText, makeNoteName } from '../../../core/memory/note-name.ts';

const T = '2026-05-26T13-42-08-';
const refusal = (code: string) => expect.objectContaining({ kind: 'invalid_input', code });

describe('checkNoteName', () => {
  it.each([
    ['TC-217', `${T}remember-review-style.md`],
    ['TC-219', `${T}x.md`],
    ['TC-219 a slug of one hyphen', `${T}-.md`],
    ['TC-224 a slug of 80', `${T}${'a'.repeat(80)}.md`],
    ['no calendar check', '9999-99-99T99-99-99-x.md'],
  ])('%s: takes %j', (_name, filename) => {
    expect(() => checkNoteName(filename)).not.toThrow();
  });

  it.each([
    ['TC-219', `${T}.md`, 'note.name_pattern'],
    ['TC-220', `${T}A.md`, 'note.slug_charset'],
    ['TC-220', `${T}a_b.md`, 'note.slug_charset'],
    ['TC-220', `${T}a b.md`, 'note.slug_charset'],
    ['TC-220', `${T}é.md`, 'note.slug_charset'],
    ['TC-220', `${T}sub/x.md`, 'note.slug_charset'],
    ['TC-220', `${T}x.md.md`, 'note.slug_charset'],
    ['TC-221', `${T}x.txt`, 'note.name_suffix'],
    ['TC-221', `${T}x.MD`, 'note.name_suffix'],
    ['TC-221', `${T}x`, 'note.name_suffix'],
    ['TC-221', '', 'note.name_suffix'],
    ['TC-221', '.md', 'note.name_pattern'],
    ['TC-221', 'notes.md', 'note.name_pattern'],
    ['TC-222', '2026-5-26T13-42-08-x.md', 'note.name_pattern'],
    ['TC-222', '2026-05-26t13-42-08-x.md', 'note.name_pattern'],
    ['TC-222', '2026-05-26 13-42-08-x.md', 'note.name_pattern'],
    ['TC-222', '2026-05-26T13:42:08-x.md', 'note.name_pattern'],
    ['a path before it', `../${T}x.md`, 'note.name_pattern'],
    ['TC-224 a slug of 81', `${T}${'a'.repeat(81)}.md`, 'note.slug_length'],
    ['TC-224 128 bytes in all', `${T}${'a'.repeat(105)}.md`, 'note.slug_length'],
    ['TC-224 129 bytes, checked first', `${T}${'A'.repeat(107)}.x`, 'note.name_too_long'],
    ['bytes, not characters', `${T}${'é'.repeat(53)}`, 'note.name_suffix'],
    ['bytes, not characters', `${T}${'é'.repeat(54)}xx`, 'note.name_too_long'],
  ])('%s: refuses %j as %s', (_name, filename, code) => {
    expect(() => checkNoteName(filename)).toThrow(refusal(code));
  });

  it('mentions the field and the shape in pattern errors', () => {
    expect(() => checkNoteName('notes.md')).toThrow(/filename.*YYYY-MM-DDTHH-MM-SS-/);
  });
});

describe('checkNoteText', () => {
  it.each(['', ' \n\t', '\u00a0\u200b\u3000'])('TC-225 refuses %j as empty', (note) => {
    expect(() => checkNoteText(note)).toThrow(refusal('note.empty'));
  });

  it('counts the limit in bytes', () => {
    expect(() => checkNoteText('é'.repeat(32_768))).not.toThrow();
    expect(() => checkNoteText(`${'é'.repeat(32_768)}x`)).toThrow(refusal('note.too_large'));
  });
});

describe('makeNoteName', () => {
  const NOW = Date.parse('2026-05-26T13:42:08.999Z');

  it.each([
    ['Prefer tabs, always!', `${T}prefer-tabs-always.md`],
    ['Größe über Éclair', `${T}gro-e-uber-eclair.md`],
    ['日本語で答えて', `${T}note.md`],
    ['  --- ', `${T}note.md`],
    ['ＡＰＩ keys', `${T}api-keys.md`],
    ['one two three four five six seven eight nine ten', `${T}one-two-three-four-five-six-seven-eight.md`],
    ['x'.repeat(90), `${T}${'x'.repeat(40)}.md`],
  ])('names the note %j %s', (note, name) => {
    expect(makeNoteName(note, NOW)).toBe(name);
  });

  it('numbers a second note of the same name', () => {
    expect(makeNoteName('tabs', NOW, 2)).toBe(`${T}tabs-2.md`);
  });

  it('always makes a name that passes its own check', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 500 }), (note, number) => {
        expect(() => checkNoteName(makeNoteName(note, NOW, number))).not.toThrow();
      }),
    );
  });
});
