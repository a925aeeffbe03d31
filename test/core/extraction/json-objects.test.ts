import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJsonObjects } from '../../../core/extraction/json-objects.ts';
import { parseStageOneReply } from '../../../core/extraction/stage-one-reply.ts';

/** What is meant, as slow as it is plain: at each brace, the shortest piece that JSON takes for an object. */
function findByTrying(text: string): unknown[] {
  const objects: unknown[] = [];
  for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', at)) {
    const start = at++;
    for (let end = text.indexOf('}', start); end !== -1; end = text.indexOf('}', end + 1)) {
      try {
        objects.push(JSON.parse(text.slice(start, end + 1)));
        at = end + 1;
        break;
      } catch {
        // not yet an object
      }
    }
  }
  return objects;
}

const pieces = [
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  '"',
  '\\',
  ' ',
  '\n',
  'a',
  '"a"',
  '{"a":',
  '"a":1',
  '\\u00',
  '41',
  '\u0001',
];
const numbers = ['0', '-1', '01', '1.5', '1.', '1e9', '-', '.5', 'true', 'nul', 'null', '\u00a0', '{}', '{"'];

describe('findJsonObjects', () => {
  it('finds what trying every brace finds, in any jumble of JSON', () => {
    const text = fc.array(fc.constantFrom(...pieces, ...numbers), { maxLength: 24 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (jumble) => {
        expect(findJsonObjects(jumble)).toEqual(findByTrying(jumble));
      }),
      { numRuns: 5_000 },
    );
  });

  it('finds values of any kind in prose, the broken outside of whole objects too', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(
        object,
        object,
        fc.constantFrom('', ' and ', '{"open": ', '[{"a": "b{"', '}'),
        (one, two, between) => {
          const text = `So: ${JSON.stringify(one)}${between}${JSON.stringify(two, null, 1)} {done}.`;
          expect(findJsonObjects(text)).toEqual(findByTrying(text));
        },
      ),
    );
  });
});

describe('an answer of many megabytes', () => {
  const fill = (piece: string): string => piece.repeat(Math.ceil(1_000_000 / piece.length));

  // A search that starts over at each brace, or line, would take hours for these: the suite's time limit tells.
  it.each<[string, string]>([
    ['open braces', fill('{"')],
    ['open objects', fill('{"a":')],
    ['open objects and arrays', fill('{"a":[')],
    ['objects in one that never closes', `{"a":[${fill('{"raw_memory":"x"},')}`],
    ['braces in strings', `{"a":${fill('"{",')}`],
    ['texts that read either way', fill('":" : "," , ')],
    ['objects that read either way', fill('{"a":"{","b":"}",')],
    ['empty objects', fill('{}')],
    ['a string that never ends', `{"${fill('\\n')}`],
    ['a number that never ends', `{"a":${fill('1')}`],
    ['spaces after a brace', fill('{        ')],
    ['a fence of blank lines', `\`\`\`\n${fill('\n')}`],
    ['a fence of indented lines', `\`\`\`${fill('\n    ')}x\`\`\``],
    ['deep arrays', fill('[')],
    ['deep whole arrays', `{"a":${fill('[')}${fill(']')}`],
  ])('of %s is invalid, and seen to be at once', (_case, text) => {
    expect(parseStageOneReply(text).kind).toBe('invalid');
  });
});
