import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DocumentProbe } from '../../../core/rollout/document-probe.ts';
import { encodeUtf8 } from '../../../core/text.ts';
import { splitDocument } from '../../support/json-document.ts';

/** Values whose texts hold what could lead a scanner astray. */
const awkward = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.string({
    unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', '\n', '日', '🚀', '\ud800', '\u2028', '\0', 'a'),
  }),
);
const elements = fc.array(fc.dictionary(fc.string({ maxLength: 6 }), awkward, { maxKeys: 4 }), { maxLength: 6 });
const layout = fc.constantFrom<undefined | string | number>(undefined, 2, '\t', 1);
const chunkBytes = fc.integer({ min: 1, max: 40 });
/** As it comes back: `-0` is no JSON. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function look(text: string): string | undefined {
  return new DocumentProbe(new Set(['messages'])).look(encodeUtf8(text));
}

describe('cutting a JSON document', () => {
  it('gives the elements of a list, whatever the chunks and the layout are', () => {
    fc.assert(
      fc.property(elements, layout, chunkBytes, fc.boolean(), (list, space, size, windows) => {
        const json = JSON.stringify(list, null, space);
        const text = windows ? `\ufeff${json.replaceAll('\n', '\r\n')}\r\n` : json;
        expect(splitDocument(encodeUtf8(text), size)).toEqual({
          elements: plain(list),
          heads: [],
          torn: false,
          oversized: 0,
          rest: windows ? '\r\n' : '',
        });
      }),
    );
  });

  it('gives the elements of a known list and what stands beside it', () => {
    const fields = fc.dictionary(
      fc
        .string({ maxLength: 8 })
        .filter((key) => !['messages', 'traj', '__proto__'].includes(key) && !/^\d+$/.test(key)),
      awkward,
      { maxKeys: 3 },
    );
    fc.assert(
      fc.property(fields, elements, fields, layout, chunkBytes, (before, list, after, space, size) => {
        const kept = Object.fromEntries(Object.entries(after).filter(([key]) => !(key in before)));
        const text = JSON.stringify({ ...before, messages: list, ...kept }, null, space);
        const heads = [{ fields: plain(before), begins: true }];
        if (Object.keys(kept).length > 0) heads.push({ fields: plain(kept), begins: false });
        expect(splitDocument(encodeUtf8(text), size)).toEqual({
          elements: plain(list),
          heads,
          torn: false,
          oversized: 0,
          rest: '',
        });
      }),
    );
  });

  it('torn anywhere, it gives all complete elements and says so', () => {
    const list = [{ a: '}]"\\', b: [1, { c: '日🚀' }] }, { d: 2 }, { e: null }];
    for (const document of [list, { id: 'x', messages: list, last: 'y' }]) {
      for (const space of [undefined, 2]) {
        const bytes = encodeUtf8(JSON.stringify(document, null, space));
        const whole = splitDocument(bytes, 7);
        let before = 0;
        for (let cut = 1; cut < bytes.length; cut++) {
          const { elements: found, torn } = splitDocument(bytes.subarray(0, cut), 7);
          expect(torn).toBe(true);
          expect(found).toEqual(whole.elements.slice(0, found.length));
          expect(found.length).toBeGreaterThanOrEqual(before);
          before = found.length;
        }
        expect(before).toBe(list.length);
      }
    }
  });

  it('tells what it knows of an object that is torn before its list', () => {
    expect(splitDocument(encodeUtf8('{"id": "x", "mess'), 3)).toMatchObject({
      heads: [{ fields: { id: 'x' }, begins: true }],
      torn: true,
    });
  });

  it('goes through any depth of nesting', () => {
    const depth = 200_000;
    const deep = `[{"a":1},${'['.repeat(depth)}${']'.repeat(depth)},{"b":${'{"c":'.repeat(1_000)}0${'}'.repeat(1_000)}}]`;
    const { elements: found, torn } = splitDocument(encodeUtf8(deep), 65_536);
    expect([found.length, torn]).toEqual([3, false]);
  });

  it.each([1, 5, 64, 100_000])('passes over an element over the limit, in chunks of %d', (size) => {
    const document = { messages: [{ a: 1 }, { long: 'x'.repeat(500) }, { b: 2 }] };
    expect(splitDocument(encodeUtf8(JSON.stringify(document)), size, 100)).toMatchObject({
      elements: [{ a: 1 }, { b: 2 }],
      oversized: 1,
      torn: false,
    });
  });

  it('counts an element that is over the limit and torn', () => {
    expect(splitDocument(encodeUtf8(`[{"a":"${'x'.repeat(500)}`), 9, 100)).toMatchObject({ oversized: 1, torn: true });
  });

  it('passes over long fields beside the list', () => {
    const document = { tools: 'x '.repeat(35_000), id: 'kept', messages: [{ a: 1 }] };
    expect(splitDocument(encodeUtf8(JSON.stringify(document)), 1_000).heads).toEqual([
      { fields: { id: 'kept' }, begins: true },
    ]);
  });

  it.each([
    ['scalars', '[1, true ,"x", {"a":1}]', [1, true, 'x', { a: 1 }]],
    ['missing and doubled commas', '[{"a":1} {"b":2},,{"c":3}]', [{ a: 1 }, { b: 2 }, { c: 3 }]],
    ['an element that is no JSON', '[{"a":1},{"b":},{"c":3}]', [{ a: 1 }, undefined, { c: 3 }]],
    ['stray marks', '[{"a":1},:,},{"c":3}]', [{ a: 1 }, undefined, undefined, { c: 3 }]],
  ])('goes on after %s', (_name, text, expected) => {
    expect(splitDocument(encodeUtf8(text), 2).elements).toEqual(expected);
  });

  it.each([
    ['a second value', '[{"a":1}]\n{"b":2}\n', '\n{"b":2}\n'],
    ['the place where an object is broken', '{"messages":[{"a":1}], oops}\nx', 'oops}\nx'],
  ])('leaves alone what follows: %s', (_name, text, rest) => {
    expect(splitDocument(encodeUtf8(text), 3)).toMatchObject({ elements: [{ a: 1 }], rest, torn: false });
  });

  it('ends on any bytes', () => {
    const noise = fc.array(fc.constantFrom(...'{}[]",:\\ \nax1'), { maxLength: 60 }).map((units) => units.join(''));
    fc.assert(
      fc.property(noise, chunkBytes, (text, size) => {
        const [found, whole] = [splitDocument(encodeUtf8(text), size), splitDocument(encodeUtf8(text), 1_000)];
        expect(found).toEqual(whole);
      }),
      { numRuns: 500 },
    );
  });
});

describe('telling a document from lines', () => {
  it.each([
    ['a list of objects', '[{"a":1}]'],
    ['a list over several lines', '\ufeff \r\n[\r\n  {'],
    ['an object over several lines', '{\n  "type": "session",'],
    ['an object that breaks after a field', '{"sessionId": "x",\n "startTime"'],
    ['an object on one line with a known list', '{"id":"x","info":{"messages":[1]},"messages":['],
  ])('%s is a document', (_name, text) => {
    expect(look(text)).toBe('document');
  });

  it.each([
    ['a record', '{"type":"user","messages":['],
    ['a record with its time first', '{"timestamp":"x","messages":['],
    ['an object that ends', '{"id":"x","git":{"branch":"[{"}}'],
    ['a list under an unknown name', `{"id":"x","steps":[${' '.repeat(70_000)}`],
    ['a list of no objects', '[1,{"a":1}]'],
    ['prose', 'Starting up\n[{"a":1}]'],
    ['a prompt in brackets', '[INFO] starting'],
    ['a line that is torn in a text', '{"id":"x\n{"type":"user"}'],
    ['a line that is torn between fields', '{"id":"x",\n{"type":"user"}'],
    ['a broken object', '{id: 1}'],
  ])('%s is not', (_name, text) => {
    expect(look(text)).toBe('lines');
  });

  it('tells the same whatever the chunks are', () => {
    const noise = fc.array(fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '\\', ' ', '\n', 'messages', 'a'), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(noise, (units) => {
        const bytes = encodeUtf8(units.join(''));
        const probe = new DocumentProbe(new Set(['messages']));
        const told = [...bytes].map((byte) => probe.look(Uint8Array.of(byte))).find((shape) => shape !== undefined);
        expect(told).toBe(new DocumentProbe(new Set(['messages'])).look(bytes));
      }),
    );
  });
});
