import { describe, expect, it } from 'vitest';
import {
  checkShrink,
  checkSkillShrink,
  checkSummaryShrink,
  type ShrinkCase,
} from '../../../core/consolidation/shrink-guard.ts';

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

describe('the summary and the skills', () => {
  const quiet = { inputsBefore: 10, inputsRemoved: 0, newNotes: 0 };

  it.each([
    ['keeps 60 %', 1_000, 600, quiet, undefined],
    ['loses more', 1_000, 599, quiet, { allowedPercent: 40 }],
    ['is emptied', 1_000, 0, quiet, { lostPercent: 100 }],
    ['is condensed from more than a reader is shown', 40_000, 6_000, quiet, undefined],
    ['is condensed to less than 60 % of what a reader is shown', 40_000, 5_999, quiet, { allowedPercent: 40 }],
    ['shrinks with the inputs that went', 1_000, 200, { ...quiet, inputsRemoved: 6 }, undefined],
    ['did not exist', 0, 0, quiet, undefined],
  ])('a summary that %s', (_name, before, after, change, expected) => {
    const loss = checkSummaryShrink(before, after, change);
    if (expected === undefined) expect(loss).toBeUndefined();
    else expect(loss).toMatchObject(expected);
  });

  const skills = new Map([
    ['a', 500],
    ['b', 300],
    ['c', 200],
  ]);
  it.each([
    ['none goes', skills, quiet, true],
    ['one is shortened', new Map([...skills, ['a', 100]]), quiet, true],
    [
      'one is merged into another',
      new Map([
        ['ab', 800],
        ['c', 200],
      ]),
      quiet,
      true,
    ],
    [
      'the largest goes for no reason',
      new Map([
        ['b', 300],
        ['c', 200],
      ]),
      quiet,
      false,
    ],
    [
      'the largest goes with an input',
      new Map([
        ['b', 300],
        ['c', 200],
      ]),
      { ...quiet, inputsRemoved: 1 },
      true,
    ],
    [
      'the largest goes by a note',
      new Map([
        ['b', 300],
        ['c', 200],
      ]),
      { ...quiet, newNotes: 1 },
      true,
    ],
    ['two go with one input', new Map([['c', 200]]), { ...quiet, inputsRemoved: 1 }, false],
    ['all go', new Map<string, number>(), { ...quiet, inputsRemoved: 1 }, false],
    ['all go with all inputs', new Map<string, number>(), { ...quiet, inputsRemoved: 10 }, true],
  ])('of the skills %s', (_name, after, change, allowed) => {
    expect(checkSkillShrink(skills, after, change) === undefined).toBe(allowed);
  });
});
