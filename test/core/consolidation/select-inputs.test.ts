import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  listOutputs,
  type SelectionRules,
  selectInputs,
  selectPrunable,
} from '../../../core/consolidation/select-inputs.ts';
import type { StageOneHead } from '../../../core/extraction/stage-one-output.ts';
import type { Thread } from '../../../core/thread/thread.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../core/time.ts';
import { sampleHead, sampleThread } from '../../support/sample-state.ts';

const NOW = 1_800_000_000 * SECOND_MS;
const days = (count: number) => NOW - count * DAY_MS;
const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** An output of thread `number`: made at `source` (ms), used `count` times, last at `used`. */
function output(number: number, given: { source?: number; count?: number; used?: number; selected?: number } = {}) {
  return sampleHead({
    threadId: id(number),
    sourceUpdatedAt: given.source ?? NOW,
    usageCount: given.count ?? null,
    lastUsage: given.used ?? null,
    selectedSnapshot: given.selected ?? null,
  });
}

function catalogue(heads: readonly StageOneHead[], given: (threadId: string) => Partial<Thread> = () => ({})) {
  return new Map(heads.map(({ threadId }) => [threadId, sampleThread({ threadId, ...given(threadId) })]));
}

function select(heads: readonly StageOneHead[], rules: Partial<SelectionRules> = {}, threads = catalogue(heads)) {
  const selected = selectInputs(heads, threads, { now: NOW, limit: 256, maxUnusedDays: 30, ...rules });
  return selected.map((head) => Number(head.threadId.slice(-12)));
}

function prune(heads: readonly StageOneHead[], rules: Partial<SelectionRules> = {}, threads = catalogue(heads)) {
  const pruned = selectPrunable(heads, threads, { now: NOW, limit: 200, maxUnusedDays: 30, ...rules });
  return pruned.map((head) => Number(head.threadId.slice(-12)));
}

describe('the selection of inputs', () => {
  it.each<[string, readonly StageOneHead[], number, readonly number[]]>([
    [
      'TC-097 equal counts, the more recently used wins',
      [
        output(1, { count: 5, used: days(10), source: days(20) }),
        output(2, { count: 5, used: days(1), source: days(20) }),
        output(3, { count: 1, used: NOW - HOUR_MS, source: days(20) }),
      ],
      1,
      [2],
    ],
    [
      'TC-099 former selection is ignored',
      [
        output(1, { source: NOW - 102, selected: NOW - 102 }),
        output(2, { source: NOW - 101 }),
        output(3, { source: NOW - 100, selected: NOW - 100 }),
      ],
      2,
      [2, 3],
    ],
    [
      'TC-100 the refreshed ones replace the earlier selected (E-07)',
      [
        output(1, { source: NOW - 102, selected: NOW - 103 }),
        output(3, { source: NOW - 101 }),
        output(4, { source: NOW - 100 }),
        output(2, { source: NOW - 103, selected: NOW - 103 }),
      ],
      2,
      [3, 4],
    ],
    ['TC-101 all equal, chosen by id descending', [1, 2, 3].map((n) => output(n, { source: days(1) })), 2, [2, 3]],
    [
      'TC-102 equal counts and uses, the newest source wins',
      [150, 100, 120].map((source, at) => output(at + 1, { source: days(9) + source, count: 2, used: days(1) })),
      1,
      [1],
    ],
    [
      'TC-104 one use beats any freshness',
      [output(1, { count: 1, used: days(20), source: days(25) }), output(2)],
      1,
      [1],
    ],
    [
      'TC-105 as DV-8 has it: a fresh extraction rescues an output whose use is old',
      [output(1, { count: 3, used: days(31), source: days(1) })],
      9,
      [1],
    ],
    [
      'TC-106 exactly at the cutoff is in, a ms older is out',
      [output(1, { source: days(30) }), output(2, { source: days(30) - 1 })],
      9,
      [1],
    ],
    [
      'E-04 used 31 days ago is out, never used and fresh is in, old and used yesterday is in',
      [
        output(1, { count: 9, used: days(31), source: days(40) }),
        output(2, { source: days(2) }),
        output(3, { source: days(50), count: 1, used: days(1) }),
      ],
      9,
      [2, 3],
    ],
    ['E-10 a limit of 0', [output(1)], 0, []],
    ['a negative limit', [output(1)], -1, []],
  ])('%s', (_case, heads, limit, expected) => {
    expect(select(heads, { limit })).toEqual(expected);
  });

  it('TC-109 goes by source time, not by when the output was made', () => {
    const heads = [
      { ...output(1, { source: NOW - 200 }), generatedAt: NOW },
      { ...output(2, { source: NOW - 100 }), generatedAt: NOW - 150 },
    ];
    expect(select(heads, { limit: 1 })).toEqual([2]);
  });

  it.each([0, -7])('TC-107 a window of %i days takes only what is of this very moment', (maxUnusedDays) => {
    expect(select([output(1), output(2, { source: NOW - 1 })], { maxUnusedDays })).toEqual([1]);
  });

  it('TC-110 TC-112 leaves out disabled, polluted, forgotten and unknown threads, which take no slot (E-06)', () => {
    const heads = [9, 8, 7, 6, 2, 1].map((count, at) => output(at + 1, { count, used: NOW, selected: NOW }));
    const threads = catalogue(heads, (threadId) => {
      if (threadId === id(1)) return { memoryMode: 'polluted' };
      if (threadId === id(2)) return { memoryMode: 'disabled' };
      return threadId === id(3) ? { forgottenAt: NOW } : {};
    });
    threads.delete(id(4));
    expect(select(heads, { limit: 2 }, threads)).toEqual([5, 6]);
  });

  it('TC-111 finds ten enabled ones below 550 better that are disabled', () => {
    const heads = Array.from({ length: 600 }, (_, at) => output(at, { count: 600 - at, used: NOW }));
    const threads = catalogue(heads, (threadId) => ({ memoryMode: threadId < id(550) ? 'disabled' : 'enabled' }));
    expect(select(heads, { limit: 10 }, threads)).toEqual([550, 551, 552, 553, 554, 555, 556, 557, 558, 559]);
  });

  it('opens the window for a thread that was asked for, and does not raise its rank', () => {
    const heads = [output(1, { source: days(400) }), output(2, { source: days(29) })];
    const asked = (requestedAt: number) => catalogue(heads, (threadId) => (threadId === id(1) ? { requestedAt } : {}));
    expect(select(heads, {}, asked(days(30)))).toEqual([1, 2]);
    expect(select(heads, {}, asked(days(30) - 1))).toEqual([2]);
    expect(select(heads, { limit: 1 }, asked(NOW))).toEqual([2]);
    expect(prune(heads, {}, asked(days(30)))).toEqual([]);
    expect(prune(heads, {}, asked(days(30) - 1))).toEqual([1]);
  });

  it('does not depend on the order of the heads', () => {
    const few = fc.integer({ min: 0, max: 3 });
    const head = fc.record({ count: few, used: few, source: few, number: fc.integer({ min: 1, max: 30 }) });
    const heads = fc.uniqueArray(head, { selector: (item) => item.number, maxLength: 20 });
    const shuffled = heads.chain((items) =>
      fc.tuple(
        fc.constant(items),
        fc.shuffledSubarray(items, { minLength: items.length, maxLength: items.length }),
        fc.integer({ min: 0, max: 20 }),
      ),
    );
    const build = (item: { count: number; used: number; source: number; number: number }) =>
      output(item.number, {
        source: days(item.source * 15),
        ...(item.count > 0 ? { count: item.count, used: days(item.used * 15) } : {}),
      });
    fc.assert(
      fc.property(shuffled, ([one, other, limit]) => {
        const selected = select(one.map(build), { limit });
        expect(select(other.map(build), { limit })).toEqual(selected);
        expect(selected).toEqual([...selected].sort((a, b) => a - b));
        expect(prune(other.map(build), { limit })).toEqual(prune(one.map(build), { limit }));
      }),
    );
  });
});

describe('pruning', () => {
  it('TC-115 takes unselected outputs out of the window only', () => {
    const heads = [
      output(1, { source: days(60) }),
      output(2, { source: days(60), count: 1, used: days(40) }),
      output(3, { source: days(45), selected: days(45) }),
      output(4, { source: days(60), count: 1, used: days(2) }),
    ];
    expect(prune(heads)).toEqual([1, 2]);
  });

  it('TC-116 takes the stalest first and no more than the limit', () => {
    const heads = [output(1, { source: days(40) }), output(2, { source: days(60) }), output(3, { source: days(50) })];
    expect(prune(heads, { limit: 2 })).toEqual([2, 3]);
    expect(prune(heads, { limit: 0 })).toEqual([]);
  });

  it('breaks ties by source time, then by id (D-08)', () => {
    const used = { count: 1, used: days(40) };
    const heads = [
      output(3, { ...used, source: days(50) }),
      output(2, { ...used, source: days(50) }),
      output(1, { ...used, source: days(45) }),
      output(4, { ...used, source: days(60) }),
    ];
    expect(prune(heads)).toEqual([4, 2, 3, 1]);
  });

  it('takes an unselected output of a forgotten thread first, whatever its age', () => {
    const heads = [output(1, { source: days(60) }), output(2), output(3, { selected: NOW })];
    const threads = catalogue(heads, (threadId) => ({ forgottenAt: threadId === id(1) ? null : NOW }));
    expect(prune(heads, {}, threads)).toEqual([2, 1]);
  });

  it('TC-117 never takes what the selection may take', () => {
    const age = fc.integer({ min: 0, max: 62 });
    const head = fc.record({ source: age, used: fc.option(age), asked: fc.option(age) });
    fc.assert(
      fc.property(fc.array(head, { maxLength: 12 }), fc.integer({ min: -1, max: 60 }), (items, maxUnusedDays) => {
        const heads = items.map(({ source, used }, at) =>
          output(at, { source: days(source), ...(used === null ? {} : { count: 1, used: days(used) }) }),
        );
        const threads = catalogue(heads, (threadId) => {
          const asked = items[Number(threadId.slice(-12))]?.asked ?? null;
          return { requestedAt: asked === null ? null : days(asked) };
        });
        const both = [...select(heads, { maxUnusedDays }, threads), ...prune(heads, { maxUnusedDays }, threads)];
        expect(both.sort((a, b) => a - b)).toEqual(heads.map((_, at) => at));
      }),
    );
  });
});

describe('the plain listing', () => {
  it('TC-114 shows the newest source first, then ids descending, with what the thread tells (E-09)', () => {
    const heads = [output(1, { source: 100 }), output(2, { source: 101 }), output(3, { source: 100 }), output(4)];
    const threads = catalogue(heads, (threadId) => ({
      cwd: `/work/${threadId}`,
      gitBranch: 'main',
      memoryMode: threadId === id(4) ? 'disabled' : 'enabled',
    }));
    const listed = listOutputs(heads, threads, 9);
    expect(listed.map((item) => item.head.threadId)).toEqual([id(2), id(3), id(1)]);
    expect(listed[0]?.thread).toMatchObject({ cwd: `/work/${id(2)}`, gitBranch: 'main' });
    expect(listOutputs(heads, threads, 1)).toHaveLength(1);
    expect(listOutputs(heads, threads, 0)).toEqual([]);
  });
});
