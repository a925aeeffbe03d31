import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareUploadOrder } from '../../../core/thread/upload-order.ts';

const MARK = fc.stringMatching(/^[0-9A-F]{1,20}$/);

describe('the order of two uploads', () => {
  it.each<[string, string, number]>([
    ['0055AED6DCD90281E5', '0055AED6DCD90281E6', -1],
    ['0055AED6DCD90281E5', '0055aed6dcd90281e5', 0],
    ['0055AED6DC', '0055AED6DCD90281E5', -1],
    ['0055AED7', '0055AED6DCD90281E5', 1],
    ['0A', '0A00', 0],
    ['9', 'A', -1],
    ['1', '01', 1],
  ])('%s against %s is %d: the shorter mark is filled up at its right end (C4)', (left, right, expected) => {
    expect(Math.sign(compareUploadOrder(left, right))).toBe(expected);
  });

  it('is one order: the other way round is the opposite, and it never goes in a circle', () => {
    fc.assert(
      fc.property(MARK, MARK, MARK, (a, b, c) => {
        expect(Math.sign(compareUploadOrder(a, b)) + Math.sign(compareUploadOrder(b, a))).toBe(0);
        if (compareUploadOrder(a, b) <= 0 && compareUploadOrder(b, c) <= 0) {
          expect(compareUploadOrder(a, c)).toBeLessThanOrEqual(0);
        }
      }),
    );
  });
});
