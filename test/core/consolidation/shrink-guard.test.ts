import { expect, it } from 'vitest';
import { checkShrink, type ShrinkCase } from '../../../core/consolidation/shrink-guard.ts';

const NONE: ShrinkCase = {
  bytesBefore: 1_000,
  bytesAfter: 1_000,
  inputsBefore: 10,
  inputsRemoved: 0,
  citedBefore: 0,
  citationsLost: 0,
};

it.each<readonly [string, Partial<ShrinkCase>, 'allowed' | 'size' | 'citations']>([
  ['a first build', { bytesBefore: 0, inputsBefore: 0 }, 'allowed'],
  ['growth', { bytesAfter: 5_000 }, 'allowed'],
  ['40 % without removed inputs', { bytesAfter: 600 }, 'allowed'],
  ['more than 40 % without removed inputs', { bytesAfter: 599 }, 'size'],
  ['all of it', { bytesAfter: 0 }, 'size'],
  ['40 % where one input in ten went', { inputsRemoved: 1, bytesAfter: 600 }, 'allowed'],
  ['41 % where one input in ten went', { inputsRemoved: 1, bytesAfter: 590 }, 'size'],
  ['70 % where half of the inputs went', { inputsRemoved: 5, bytesAfter: 300 }, 'allowed'],
  ['71 % where half of the inputs went', { inputsRemoved: 5, bytesAfter: 290 }, 'size'],
  ['all of it where all inputs went', { inputsRemoved: 10, bytesAfter: 0 }, 'allowed'],
  ['four of ten citations', { citedBefore: 10, citationsLost: 4 }, 'allowed'],
  ['five of ten citations at the same length', { citedBefore: 10, citationsLost: 5 }, 'citations'],
])('a result that loses %s', (_fact, change, expected) => {
  const verdict = checkShrink({ ...NONE, ...change });
  expect(verdict.kind === 'allowed' ? 'allowed' : verdict.measure).toBe(expected);
});

it('says how much was lost and how much may be', () => {
  expect(checkShrink({ ...NONE, bytesAfter: 250, inputsRemoved: 3 })).toEqual({
    kind: 'refused',
    measure: 'size',
    lostPercent: 75,
    allowedPercent: 50,
  });
});
