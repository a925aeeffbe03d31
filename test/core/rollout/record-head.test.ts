import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordHead } from '../../../core/rollout/record-head.ts';
import { parseTime } from '../../../core/time.ts';

const encoder = new TextEncoder();
const head = new RecordHead();

function scan(text: string): RecordHead {
  const bytes = encoder.encode(`xx${text}yy`);
  head.scan(bytes, 2, bytes.length - 2);
  return head;
}

const record = (payload: object, extra: object = {}): string =>
  JSON.stringify({ timestamp: '2026-01-02T03:04:05.678Z', ...extra, type: 'response_item', payload });

describe('the head of a record', () => {
  it.each([
    ['plain', record({ type: 'function_call', name: 'shell', arguments: '{}' })],
    [
      'with spaces',
      record({ type: 'function_call', name: 'shell', arguments: '{}' }).replaceAll('":', '": ').replaceAll(',"', ', "'),
    ],
    ['with an ordinal', record({ type: 'function_call', name: 'shell' }, { ordinal: 7 })],
    [
      'with an id before the name',
      record({ type: 'function_call', id: 'a"b', call_id: null, name: 'shell', namespace: 'mcp__x' }),
    ],
  ])('%s tells time, kind and tool', (_name, text) => {
    expect(scan(text)).toMatchObject({
      sure: true,
      type: 'response_item',
      payloadType: 'function_call',
      name: 'shell',
      timeMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    });
  });

  it('tells the namespace behind the name', () => {
    expect(
      scan(record({ type: 'function_call', name: 'list', namespace: 'mcp__files', arguments: '{}' })).namespace,
    ).toBe('mcp__files');
  });

  it('tells the directory of a turn', () => {
    const text =
      '{"timestamp":"2026-01-02T03:04:05.678Z","type":"turn_context","payload":{"turn_id":"t","cwd":"/a","x":{}}}';
    expect(scan(text)).toMatchObject({ sure: true, type: 'turn_context', cwd: '/a' });
  });

  it('tells bare items and state markers', () => {
    expect(scan('{"record_type":"state"}')).toMatchObject({ sure: true, type: 'state' });
    expect(scan('{"type":"message","id":null,"role":"user","content":[]}')).toMatchObject({
      sure: true,
      type: 'message',
    });
  });

  it.each([
    ['no object', '[1]'],
    ['a cut record', '{"timestamp":"2026-01-02T03:04:05.678Z","type":"event_msg","payload":{"type":"token_cou'],
    ['the payload before the kind', '{"payload":{"type":"x"},"type":"event_msg"}'],
    ['no kind', '{"id":"x","timestamp":"2026-01-02T03:04:05.678Z"}'],
    ['a payload that is no object', '{"timestamp":"2026-01-02T03:04:05.678Z","type":"event_msg","payload":"x"}'],
    ['a time that is none', '{"timestamp":"soon","type":"event_msg","payload":{"type":"x"}}'],
    ['a kind behind a structure', record({ content: [], type: 'message' })],
    ['a kind with an escape', record({ type: 'a' }).replace('"a"', '"\\u0061"')],
  ])('is not sure of %s', (_name, text) => {
    expect(scan(text).sure).toBe(false);
  });

  it('forgets the record before', () => {
    scan(record({ type: 'function_call', name: 'shell' }));
    expect(scan('{"type":"x"}')).toMatchObject({
      type: 'x',
      name: undefined,
      payloadType: undefined,
      timeMs: undefined,
    });
  });

  it('reads every time as the parser of times does', () => {
    const two = fc.integer({ min: 0, max: 99 }).map((each) => `${each}`.padStart(2, '0'));
    const wild = fc
      .tuple(two, two, two, two, two)
      .map(([month, day, hour, minute, second]) => `2026-${month}-${day}T${hour}:${minute}:${second}.123Z`);
    const real = fc
      .date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })
      .map((date) => date.toISOString());
    fc.assert(
      fc.property(fc.oneof(wild, real), (text) => {
        expect(scan(`{"timestamp":"${text}","type":"x"}`).timeMs).toBe(parseTime(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('takes no other key for a kind that is written with escapes', () => {
    expect(scan(JSON.stringify({ type: '\\', record_type: '' })).sure).toBe(false);
  });

  it('never tells another kind than the parser, and reads no byte outside', () => {
    const value = fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.integer(),
      fc.constant(null),
      fc.constant([]),
      fc.constant({ type: 'inner' }),
    );
    const key = fc.constantFrom('type', 'payload', 'timestamp', 'name', 'x', 'record_type', 'cwd', 'ordinal');
    fc.assert(
      fc.property(fc.dictionary(key, fc.oneof(value, fc.dictionary(key, value))), (given) => {
        const found = scan(JSON.stringify(given));
        if (!found.sure) return;
        const payload: unknown = given['payload'];
        expect(found.type).toBe(typeof given['type'] === 'string' ? given['type'] : given['record_type']);
        if (found.payloadType !== undefined) expect(payload).toMatchObject({ type: found.payloadType });
      }),
      { numRuns: 2_000 },
    );
  });
});
