import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignStems, fileStem, type StemSource } from '../../../core/workspace/file-stem.ts';

const TF = '0194f5a6-89ab-7cde-8123-456789abcdef';
const T1 = '00000000-0000-4000-8000-000000000001';
const PRE = '2025-02-11T15-35-19-jqmb';

function stem(threadId: string, sourceSeconds: number, slug: string | null = null): string {
  return fileStem({ threadId, sourceUpdatedAt: sourceSeconds * 1000, slug });
}

describe('fileStem', () => {
  it.each([
    ['TC-001', null, PRE],
    ['TC-002', '', PRE],
    ['TC-004', 'rollout-b', `${PRE}-rollout_b`],
    ['TC-005', 'UPPER', `${PRE}-upper`],
    ['TC-006', '  hello', `${PRE}-__hello`],
    ['TC-007', '___', PRE],
    ['TC-009', 'Fix Bug #42!', `${PRE}-fix_bug__42`],
    ['TC-010', 'café-au-lait', `${PRE}-caf__au_lait`],
    ['TC-011', '日本語', PRE],
    ['TC-012', 'é', PRE],
    ['TC-014', 'naïve_plan.md', `${PRE}-na_ve_plan_md`],
    ['TC-015', '../../etc/passwd', `${PRE}-______etc_passwd`],
    ['TC-016', '-lead', `${PRE}-_lead`],
    ['TC-017', 'a b  c   ', `${PRE}-a_b__c`],
    ['TC-019', 'x'.repeat(60), `${PRE}-${'x'.repeat(60)}`],
    ['TC-019', 'x'.repeat(61), `${PRE}-${'x'.repeat(60)}`],
    ['TC-020', `${'a'.repeat(59)}-b`, `${PRE}-${'a'.repeat(59)}`],
    ['one underscore for a code point of two units', '🚀x', `${PRE}-_x`],
  ])('%s: slug %j gives %s', (_name, slug, expected) => {
    expect(stem(TF, 123, slug)).toBe(expected);
  });

  it.each([
    ['TC-021 v4 takes the source time', T1, 100, '1970-01-01T00-01-40-0001'],
    ['TC-022', '00000000-0000-4000-8000-00000000003e', 100, '1970-01-01T00-01-40-0010'],
    ['TC-024 wraps at 62^4', '00000000-0000-4000-8000-000000e17810', 100, '1970-01-01T00-01-40-0000'],
    ['TC-025', '00000000-0000-4000-8000-0000ffffffff', 1_700_000_000, '2023-11-14T22-13-20-Ffc3'],
    ['TC-026', '550e8400-e29b-41d4-a716-446655440000', 0, '1970-01-01T00-00-00-Ojy8'],
    ['TC-027 the time of a v7 id wins', '01890000-0000-7000-8000-0000000000ff', 5, '2023-06-28T03-15-47-0047'],
    ['TC-029', '00000000-0000-7000-8000-000000000000', 5, '1970-01-01T00-00-00-0000'],
    ['TC-030 v1', 'c232ab00-9414-11ec-b3c8-9f6bdeced846', 5, '2022-02-22T19-22-22-YFYW'],
    ['v6, the same time', '1ec9414c-232a-6b00-b3c8-9f6bdeced846', 5, '2022-02-22T19-22-22-YFYW'],
    ['upper case', 'C232AB00-9414-11EC-B3C8-9F6BDECED846', 5, '2022-02-22T19-22-22-YFYW'],
    ['an id that is no UUID takes the source time and a rolling sum', 'ab', 100, '1970-01-01T00-01-40-00O5'],
    [
      'a v7 time past the year 9999 is not taken',
      'ffffffff-ffff-7000-8000-000000000000',
      5,
      '1970-01-01T00-00-05-0000',
    ],
  ])('%s', (_name, id, sourceSeconds, expected) => {
    expect(stem(id, sourceSeconds)).toBe(expected);
  });
});

describe('assignStems', () => {
  const T1_TWIN = '00000000-0000-4000-8000-000000e17811';
  const source = (threadId: string, slug: string | null = null): StemSource => ({
    threadId,
    sourceUpdatedAt: 100_000,
    slug,
  });

  it('TC-031 gives the later of two colliding threads a number (DV-5), whatever the order given', () => {
    const expected = [
      [T1, '1970-01-01T00-01-40-0001'],
      [T1_TWIN, '1970-01-01T00-01-40-0001-2'],
    ];
    expect([...assignStems([source(T1), source(T1_TWIN)])]).toEqual(expected);
    expect([...assignStems([source(T1_TWIN), source(T1)])]).toEqual(expected);
  });

  it('does not give a number that a slug already spells', () => {
    const third = '00000000-0000-4000-8000-000001c2f021';
    const stems = assignStems([source(T1), source(T1_TWIN), source(third, '2')]);
    expect(stems.get(third)).toBe('1970-01-01T00-01-40-0001-2-2');
  });

  it('always gives every thread a name of its own, also on a disk that ignores case', () => {
    const ids = fc.integer({ min: 0, max: 3 }).chain((high) =>
      fc.integer({ min: 0, max: 80 }).map((low) => {
        const tail = (high * 14_776_336 + low).toString(16).padStart(12, '0');
        return `00000000-0000-4000-8000-${tail}`;
      }),
    );
    const sources = fc.uniqueArray(fc.tuple(ids, fc.constantFrom(null, '2', 'A', 'a', '2-2')), {
      maxLength: 40,
      selector: ([id]) => id,
    });
    fc.assert(
      fc.property(sources, (given) => {
        const stems = [...assignStems(given.map(([id, slug]) => source(id, slug))).values()];
        expect(stems).toHaveLength(given.length);
        expect(new Set(stems.map((name) => name.toLowerCase())).size).toBe(given.length);
      }),
    );
  });
});
