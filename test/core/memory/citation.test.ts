import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CitationStripper, parseCitations, readCitations } from '../../../core/memory/citation.ts';

const OPEN = '<oai-mem-citation>';
const CLOSE = '</oai-mem-citation>';
const U1 = '019c22a4-5c70-7a11-9b7e-3f0d5a6b7c81';
const U2 = '019c22a4-5c70-7a11-9b7e-3f0d5a6b7c82';

const entries = (...lines: string[]) => `<citation_entries>\n${lines.join('\n')}\n</citation_entries>`;
const ids = (name: string, ...values: string[]) => `<${name}>\n${values.join('\n')}\n</${name}>`;

function strip(...chunks: string[]) {
  const stripper = new CitationStripper();
  const shown = chunks.map((chunk) => stripper.push(chunk));
  return { shown, rest: stripper.finish(), blocks: stripper.blocks };
}

describe('citation entries', () => {
  it.each([
    ['TC-229', 'MEMORY.md:1-2|note=[summary]', ['MEMORY.md', 1, 2, 'summary']],
    ['TC-230', '  MEMORY.md : 1 - 2 |note=[ padded ]  ', ['MEMORY.md', 1, 2, 'padded']],
    ['TC-234', 'MEMORY.md:9-3|note=[r]', ['MEMORY.md', 9, 3, 'r']],
    ['TC-234', 'MEMORY.md:0-0|note=[z]', ['MEMORY.md', 0, 0, 'z']],
    ['TC-235', 'C:\\m\\MEMORY.md:3-9|note=[win]', ['C:\\m\\MEMORY.md', 3, 9, 'win']],
    ['TC-235', 'a:b.md:3-9|note=[c]', ['a:b.md', 3, 9, 'c']],
    ['TC-236', ':1-2|note=[nopath]', ['', 1, 2, 'nopath']],
    ['TC-236', 'MEMORY.md:1-2|note=[]', ['MEMORY.md', 1, 2, '']],
    ['TC-237', 'MEMORY.md:1-2|note=[a]b]', ['MEMORY.md', 1, 2, 'a]b']],
    ['TC-237', 'x|note=[y]:1-2|note=[z]', ['x|note=[y]', 1, 2, 'z']],
    ['the largest number', 'a:0-4294967295|note=[n]', ['a', 0, 4_294_967_295, 'n']],
  ] as const)('%s: keeps %j', (_name, line, [path, first, last, note]) => {
    expect(parseCitations([entries(line)])?.entries).toEqual([{ path, line_start: first, line_end: last, note }]);
  });

  it.each([
    ['TC-231', 'MEMORY.md:5|note=[x]'],
    ['TC-231', 'MEMORY.md:1-2'],
    ['TC-231', 'MEMORY.md:1-2|note=x'],
    ['TC-231', 'MEMORY.md:1-2|note=[x'],
    ['TC-231', 'MEMORY.md:1-2|note=[x] trailing'],
    ['TC-232', 'MEMORY.md:a-2|note=[x]'],
    ['TC-232', 'MEMORY.md:-1-2|note=[x]'],
    ['TC-232', 'MEMORY.md:1-2-3|note=[x]'],
    ['TC-232', 'MEMORY.md:1–2|note=[x]'],
    ['a number too large', 'MEMORY.md:1-4294967296|note=[x]'],
    ['no colon', 'MEMORY.md 1-2|note=[x]'],
  ])('%s: drops %j and keeps the line after it', (_name, line) => {
    expect(parseCitations([entries(line, 'ok:1-2|note=[n]')])?.entries.map((entry) => entry.path)).toEqual(['ok']);
  });
});

describe('citation blocks', () => {
  it('TC-239 keeps both entries, and each id once', () => {
    const block = `${entries('a:1-2|note=[x]', 'a:1-2|note=[x]')}\n${ids('rollout_ids', U1, ` ${U2} `, '', U1)}`;
    expect(parseCitations([block])).toEqual({
      entries: Array.from({ length: 2 }, () => ({ path: 'a', line_start: 1, line_end: 2, note: 'x' })),
      rollout_ids: [U1, U2],
    });
  });

  it('TC-240 falls back to thread_ids, and keeps what is no id as text', () => {
    expect(parseCitations([ids('thread_ids', U1, 'not-a-uuid', U2)])?.rollout_ids).toEqual([U1, 'not-a-uuid', U2]);
  });

  it('TC-241 cites threads without entries, and nothing at all as none', () => {
    expect(parseCitations([ids('rollout_ids', U1)])).toEqual({ entries: [], rollout_ids: [U1] });
    expect(parseCitations(['some text', entries('bad line'), ids('rollout_ids')])).toBeNull();
    expect(parseCitations([])).toBeNull();
  });

  it('TC-242 does not fall back where an empty rollout_ids section is there', () => {
    expect(parseCitations([`${ids('rollout_ids')}${ids('thread_ids', U1)}`])).toBeNull();
  });

  it('TC-244 takes the first section of a block only', () => {
    const block = `${entries('a:1-1|note=[1]')}${entries('b:1-1|note=[2]')}${ids('rollout_ids', U1)}${ids('rollout_ids', U2)}`;
    const citation = parseCitations([block]);
    expect(citation?.entries.map((entry) => entry.path)).toEqual(['a']);
    expect(citation?.rollout_ids).toEqual([U1]);
  });

  it('O-04 ignores a section that is not closed', () => {
    expect(parseCitations([`${ids('rollout_ids', U1)}<citation_entries>\na:1-1|note=[1]\n`])).toEqual({
      entries: [],
      rollout_ids: [U1],
    });
  });

  it('O-06 joins several blocks and de-duplicates ids over all of them', () => {
    const citation = parseCitations([ids('rollout_ids', U2, U1), ids('rollout_ids', U1, U2)]);
    expect(citation?.rollout_ids).toEqual([U2, U1]);
  });

  it('takes lines that end with CR LF', () => {
    const block = `${entries('a:1-2|note=[x]')}\n${ids('rollout_ids', U1)}`.replaceAll('\n', '\r\n');
    expect(parseCitations([block])).toEqual(parseCitations([block.replaceAll('\r', '')]));
  });
});

describe('CitationStripper', () => {
  it.each([
    [
      'TC-245',
      ['Hello <oai-mem-', 'citation>source A</oai-mem-', 'citation> world'],
      ['Hello ', '', ' world'],
      '',
      ['source A'],
    ],
    ['TC-246', ['abc <oai-mem-'], ['abc '], '<oai-mem-', []],
    ['TC-246', ['abc <oai-mem-', `citation>x${CLOSE}z`], ['abc ', 'z'], '', ['x']],
    ['TC-247', [`x${OPEN}source`], ['x'], '', ['source']],
    ['TC-249', [`a${OPEN}one${CLOSE}b${OPEN}two${CLOSE}c`], ['abc'], '', ['one', 'two']],
    ['TC-250', [`a${OPEN}x${OPEN}y${CLOSE}z${CLOSE}b`], [`az${CLOSE}b`], '', [`x${OPEN}y`]],
    ['TC-251', ['a<', 'b'], ['a', '<b'], '', []],
    ['TC-251', ['1 < 2 and <oai-mem-', 'x>'], ['1 < 2 and ', '<oai-mem-x>'], '', []],
    ['TC-252', [`a<${OPEN}q${CLOSE}`], ['a<'], '', ['q']],
    ['TC-255', [`t${OPEN}part</oai-mem-cit`], ['t'], '', ['part</oai-mem-cit']],
    ['TC-256', [`${OPEN}${CLOSE}`], [''], '', ['']],
    ['case counts', [`a${OPEN.toUpperCase()}b`], [`a${OPEN.toUpperCase()}b`], '', []],
    ['O-02 an incomplete open tag at the end', ['a', '<oai'], ['a', ''], '<oai', []],
  ])('%s: strips %j', (_name, chunks, shown, rest, blocks) => {
    expect(strip(...chunks)).toEqual({ shown, rest, blocks });
  });

  it('TC-254 works on one character at a time', () => {
    const { shown, rest, blocks } = strip(...`k${OPEN}v${CLOSE}w`);
    expect(shown.join('') + rest).toBe('kw');
    expect(blocks).toEqual(['v']);
  });

  it('TC-256 parses an empty block to no citation', () => {
    expect(readCitations(`${OPEN}${CLOSE}`)).toEqual({ visibleText: '', citation: null });
  });

  it('O-02 reads a whole text with an open block, or an incomplete tag, at its end', () => {
    expect(readCitations(`a${OPEN}${ids('rollout_ids', U1)}`)).toEqual({
      visibleText: 'a',
      citation: { entries: [], rollout_ids: [U1] },
    });
    expect(readCitations('a <oai-mem')).toEqual({ visibleText: 'a <oai-mem', citation: null });
  });

  it('shows and collects the same however the text is cut into chunks', () => {
    const pieces = fc.constantFrom(OPEN, CLOSE, '<', 'oai-mem-', 'citation>', 'text', '</', ' ', '🚀');
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 20 }), fc.array(fc.nat(9)), (parts, cuts) => {
        const text = parts.join('');
        const chunks: string[] = [];
        let at = 0;
        for (const length of cuts) {
          chunks.push(text.slice(at, at + length));
          at += length;
        }
        const whole = strip(text);
        const cut = strip(...chunks, text.slice(at));
        expect(cut.shown.join('') + cut.rest).toBe(whole.shown.join('') + whole.rest);
        expect(cut.blocks).toEqual(whole.blocks);
      }),
    );
  });

  it('shows no tag of the text; what stood around a block may join to one, and is then plain text', () => {
    const pieces = fc.constantFrom(OPEN, CLOSE, 'text', '</', ' ', '🚀');
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 20 }), (parts) => {
        const whole = strip(parts.join(''));
        expect(whole.shown.join('') + whole.rest).not.toContain(OPEN);
      }),
    );
    expect(strip(`<oai-mem-${OPEN}x${CLOSE}citation>`)).toEqual({ shown: [OPEN], rest: '', blocks: ['x'] });
  });
});
