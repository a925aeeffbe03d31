import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecentMap } from '../../../core/rollout/recent-map.ts';

describe('a map of the newest entries', () => {
  it('knows the newest ones, by their last value, and forgets what is twice as old', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 200 }),
        fc.integer({ min: 1, max: 8 }),
        (keys, n) => {
          const map = new RecentMap<number>(n);
          keys.forEach((key, at) => {
            map.set(`${key}`, at);
          });
          const newest = [...new Set(keys.toReversed())];
          newest.forEach((key, age) => {
            if (age < n) expect(map.get(`${key}`)).toBe(keys.lastIndexOf(key));
            else expect([undefined, keys.lastIndexOf(key)]).toContain(map.get(`${key}`));
          });
          expect(newest.filter((key) => map.get(`${key}`) !== undefined).length).toBeLessThanOrEqual(2 * n);
        },
      ),
    );
  });
});
