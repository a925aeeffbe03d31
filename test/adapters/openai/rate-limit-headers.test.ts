import { describe, expect, it } from 'vitest';
import { readRateLimits, retryAfterMs } from '../../../adapters/openai/rate-limit-headers.ts';

const NOW = Date.parse('2026-03-03T12:00:00Z');
const NINES = '9'.repeat(400);

const window = (limit: string, remaining: string, reset: string): Headers =>
  new Headers({
    'x-ratelimit-limit-tokens': limit,
    'x-ratelimit-remaining-tokens': remaining,
    'x-ratelimit-reset-tokens': reset,
  });

describe('rate-limit headers', () => {
  it.each([
    ['Infinity', '1', '1s'],
    [NINES, '1', '1s'],
    [NINES, NINES, '1s'],
    ['100', NINES, '1s'],
    ['100', 'Infinity', '1s'],
    ['100', '-1', '1s'],
    ['-100', '1', '1s'],
    ['NaN', '1', '1s'],
    ['0x10', '1', '1s'],
    ['1e3', '1', '1s'],
    ['0', '0', '1s'],
    ['', '', ''],
  ])('of limit %.10s and remainder %.10s tell of no window', (limit, remaining, reset) => {
    expect(readRateLimits(window(limit, remaining, reset), NOW)).toEqual([]);
  });

  it.each(['Infinity', NINES, `${NINES}s`, `${NINES}ms`, `1h${NINES}d`, '-5', '-5s', '99999999999', 'soon'])(
    'with the reset %.10s have none',
    (reset) => {
      expect(readRateLimits(window('100', '0', reset), NOW)).toEqual([
        { name: 'tokens', remainingPercent: 0, resetsAt: NOW },
      ]);
      expect(retryAfterMs(window('100', '0', reset), NOW)).toBeNull();
    },
  );

  it.each([
    'Infinity',
    NINES,
    '-5',
    '-0.5',
    '1e400',
    '99999999999',
    '12/5',
    'Tue, 03 Mar 275759 12:01:00 GMT',
    'Xxx, 99 Yyy 2026 GMT',
  ])('with retry-after %.20s name no wait', (after) => {
    expect(retryAfterMs(new Headers({ 'retry-after': after }), NOW)).toBeNull();
    expect(retryAfterMs(new Headers({ 'retry-after-ms': after }), NOW)).toBeNull();
    expect(retryAfterMs(new Headers({ 'retry-after-ms': after, 'retry-after': '2' }), NOW)).toBe(2_000);
  });

  it('name a wait in ms, seconds or as a date, whole and never negative', () => {
    const wait = (after: string): number | null => retryAfterMs(new Headers({ 'retry-after': after }), NOW);
    expect(retryAfterMs(new Headers({ 'retry-after-ms': '1500.2' }), NOW)).toBe(1_501);
    expect(wait('0.0005')).toBe(1);
    expect(wait('Tue, 03 Mar 2026 12:01:00 GMT')).toBe(60_000);
    expect(wait('Tue, 03 Mar 2026 11:00:00 GMT')).toBe(0);
    expect(retryAfterMs(window('100', '0', '6m0.5s'), NOW)).toBe(360_500);
  });
});
