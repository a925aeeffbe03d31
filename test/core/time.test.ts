import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStemTime, parseTime, toDay, toFileTime, toStemTime } from '../../core/time.ts';

const MOMENT = Date.UTC(2026, 1, 3, 4, 5, 6, 789);

describe('times in files', () => {
  it('are in whole seconds with the offset +00:00', () => {
    expect(toFileTime(MOMENT)).toBe('2026-02-03T04:05:06+00:00');
    expect(toStemTime(MOMENT)).toBe('2026-02-03T04-05-06');
    expect(toDay(MOMENT)).toBe('2026-02-03');
  });

  it('round down, also before 1970', () => {
    expect(toFileTime(-1)).toBe('1969-12-31T23:59:59+00:00');
  });

  it('round-trip to the second', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), (ms) => {
        const seconds = Math.floor(ms / 1_000) * 1_000;
        expect(parseTime(toFileTime(ms))).toBe(seconds);
        expect(parseStemTime(`${toStemTime(ms)}-abcd-note`)).toBe(seconds);
      }),
    );
  });
});

describe('reading RFC 3339', () => {
  it.each([
    ['2026-02-03T04:05:06.789Z', MOMENT],
    ['2026-02-03T04:05:06.789123Z', MOMENT],
    ['2026-02-03t05:05:06.789+01:00', MOMENT],
    ['2026-02-02 22:05:06.789-06:00', MOMENT],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
  ])('%s', (text, ms) => {
    expect(parseTime(text)).toBe(ms);
  });

  it.each([
    '',
    '2026-02-03',
    '2026-02-03T04:05:06',
    '2026-02-03T04:05Z',
    '2026-02-30T04:05:06Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-02-03T25:05:06Z',
    '2026-02-03T04:61:06Z',
    ' 2026-02-03T04:05:06Z',
    '2026-02-03T04:05:06Z ',
    '[trimmed for fixture]',
    '1770091506789',
  ])('refuses %j', (text) => {
    expect(parseTime(text)).toBeUndefined();
  });
});

describe('reading the time of a stem (K-03)', () => {
  it.each(['2026-02-30T04-05-06-x', '2026-02-03T04-05', '2026-02-03T04:05:06', 'x2026-02-03T04-05-06', ''])(
    'refuses %j',
    (text) => {
      expect(parseStemTime(text)).toBeUndefined();
    },
  );
});
