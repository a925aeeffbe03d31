import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_RUN_BYTES } from '../../../core/rollout/record-buffer.ts';
import { RecordSplitter } from '../../../core/rollout/record-splitter.ts';
import { decodeUtf8, encodeUtf8 } from '../../../core/text.ts';

interface Split {
  readonly records: readonly string[];
  readonly oversized: number;
}

/** Cuts `text` into chunks at the given offsets, all in one buffer that is used again for each chunk. */
function split(text: string, cuts: readonly number[], maxRecordBytes = 1_000_000): Split {
  const records: string[] = [];
  const sink = {
    record: (bytes: Uint8Array, from: number, to: number) => {
      records.push(decodeUtf8(bytes.subarray(from, to)));
    },
  };
  const splitter = new RecordSplitter(sink, maxRecordBytes);
  const bytes = encodeUtf8(text);
  const edges = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
  const buffer = new Uint8Array(bytes.length);
  for (const [index, from] of edges.entries()) {
    const chunk = bytes.subarray(from, edges[index + 1] ?? bytes.length);
    buffer.fill(0x0a);
    buffer.set(chunk);
    splitter.push(buffer.subarray(0, chunk.length));
  }
  splitter.end();
  return { records, oversized: splitter.oversized };
}

const piece = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.constantFrom(
    '\\',
    '"',
    '\\"',
    '\\/',
    '\\\\',
    '\\n',
    '\n',
    '\r\n',
    ' ',
    'é',
    '😀',
    '\u2028',
    '"data:image/png;base64,',
  ),
  fc
    .integer({ min: MAX_RUN_BYTES - 3, max: MAX_RUN_BYTES + 3 })
    .map((length) => 'iVBOR/+='.repeat(length / 8 + 1).slice(0, length)),
  fc.integer({ min: MAX_RUN_BYTES / 2 - 2, max: MAX_RUN_BYTES / 2 + 2 }).map((length) => '\\/'.repeat(length)),
);
const hostileText = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
const cuts = fc.array(fc.nat(3 * MAX_RUN_BYTES), { maxLength: 6 });

describe('records', () => {
  it('are the same wherever the chunks are cut', () => {
    fc.assert(
      fc.property(hostileText, cuts, (text, at) => {
        expect(split(text, at)).toEqual(split(text, []));
      }),
    );
  });

  it('are the lines, where none is long', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { maxLength: 6 }), cuts, (lines, at) => {
        const text = lines.map((line) => line.replaceAll(/[\n\ufeff]/g, '?')).join('\n');
        const expected = decodeUtf8(encodeUtf8(text))
          .split('\n')
          .map((line) => line.replaceAll(/^[ \t\r]+|[ \t\r]+$/g, ''));
        expect(split(text, at).records).toEqual(expected.filter((line) => line !== ''));
      }),
    );
  });
});

describe('data in a string', () => {
  const long = MAX_RUN_BYTES + 1;

  it('gives way to a marker, and JSON stays JSON', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 20 }),
        fc.string({ unit: 'binary', maxLength: 20 }),
        fc.boolean(),
        cuts,
        (before, after, slashed, at) => {
          const run = 'AbC/'.repeat(long);
          const json = JSON.stringify({ before, data: `${before};base64,${run}`, after: [after, 7] });
          const text = slashed ? json.replaceAll('/', '\\/') : json;
          const [record = ''] = split(text, at).records;
          expect(record.length).toBeLessThan(1_000);
          const value: unknown = JSON.parse(record);
          const bytes = run.length + (slashed ? long : 0);
          expect(value).toEqual({ before, data: `${before};base64,[${bytes} bytes omitted]`, after: [after, 7] });
        },
      ),
      { numRuns: 30 },
    );
  });

  it.each([
    ['at the limit', `{"a":"${'A'.repeat(MAX_RUN_BYTES)}"}`],
    ['of words', `{"a":"${'word '.repeat(long)}"}`],
    ['of lines', `{"a":"${'word\\n'.repeat(long)}"}`],
    ['in a number', `{"a":${'9'.repeat(long)}}`],
  ])('stays where it is text: %s', (_name, text) => {
    expect(split(text, [3, 70_000]).records).toEqual([text]);
  });

  it('does not count for the limit of a record', () => {
    const line = `{"a":"${'A'.repeat(300_000)}","b":1}`;
    expect(split(`${line}\n1`, [], 100_000)).toEqual({
      records: ['{"a":"[300000 bytes omitted]","b":1}', '1'],
      oversized: 0,
    });
    expect(split(`{"a":"${'A b'.repeat(100_000)}"}\n1`, [9], 100_000)).toEqual({ records: ['1'], oversized: 1 });
  });
});
