import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../core/settings.ts';
import type { Ground } from '../support/ground.ts';
import { onGround } from '../support/ground.ts';
import { claimAt, done, extract, extraction, type JobContractStores } from '../support/job-steps.ts';
import { NOW } from '../support/sample-state.ts';

const BODY = { rawMemory: '# raw\n日本 \u0000 \u2028 😀', rolloutSummary: 'summary \ud800 "quoted"' };

/** Every store of stage-one outputs keeps to this. */
export function stageOneStoreContract(name: string, makeGround: () => Ground<JobContractStores>): void {
  const on = (check: Parameters<typeof onGround<JobContractStores>>[1]) => () => onGround(makeGround(), check);
  const ref = (threadId: string, sourceUpdatedAt: number) => ({ threadId, sourceUpdatedAt });

  describe(`stage-one store: ${name}`, () => {
    it(
      'lists heads by thread id in byte order, after reopening too',
      on(async ({ jobs }, _other, reopen) => {
        for (const id of ['b', 'B', 'a.1', 'a']) await extract(jobs, id, 100);
        await jobs.recordOutcome('u', 'c', { kind: 'skipped', reason: 'source' });
        const again = reopen();
        expect((await again.outputs.heads('u')).map((head) => head.threadId)).toEqual(['B', 'a', 'a.1', 'b']);
      }),
    );

    it(
      'gives texts back as they were, by snapshot, and leaves out what is gone',
      on(async ({ outputs }, _o, reopen) => {
        await outputs.putBody('u', ref('t', 100), BODY);
        await outputs.putBody('u', ref('t', 100), BODY);
        await outputs.putBody('u', ref('t', 101), { rawMemory: 'newer', rolloutSummary: 's' });
        await outputs.putBody('u1', ref('x', 100), BODY);
        const again = reopen().outputs;
        expect(await again.bodies('u', [ref('t', 100), ref('x', 100), ref('t2', 1)])).toEqual(new Map([['t', BODY]]));
        expect((await again.bodies('u', [ref('t', 101)])).get('t')?.rawMemory).toBe('newer');
        expect(await again.bodies('u', [])).toEqual(new Map());
      }),
    );

    it(
      'keeps texts of megabytes',
      on(async ({ outputs }) => {
        const rawMemory = Array.from({ length: 60_000 }, (_, at) => `line ${at} 日本語`).join('\n');
        await outputs.putBody('u', ref('t', 1), { rawMemory, rolloutSummary: '' });
        expect((await outputs.bodies('u', [ref('t', 1)])).get('t')?.rawMemory).toBe(rawMemory);
      }),
    );

    it(
      'shows no head before the commit, whatever texts are stored',
      on(async ({ outputs, jobs }) => {
        await jobs.claim('u', extraction('t'), claimAt(100, 'k'));
        await outputs.putBody('u', ref('t', 100), BODY);
        expect(await outputs.heads('u')).toEqual([]);
        expect(await outputs.head('u', 't')).toBeUndefined();
      }),
    );

    it(
      'counts a use once per listed id and ignores unknown ones (P-02)',
      on(async ({ outputs, jobs }) => {
        for (const id of ['a', 'b']) await extract(jobs, id, 100);
        await jobs.recordOutcome('u', 'jobOnly', { kind: 'no_output' });
        expect(await outputs.recordUsage('u', ['a', 'a', 'b', 'missing', 'jobOnly'], NOW + 9)).toEqual(['a', 'a', 'b']);
        expect(await outputs.head('u', 'a')).toMatchObject({ usageCount: 2, lastUsage: NOW + 9 });
        expect(await outputs.head('u', 'b')).toMatchObject({ usageCount: 1, lastUsage: NOW + 9 });
        expect(await outputs.recordUsage('u1', ['a'], NOW)).toEqual([]);
        expect((await outputs.head('u', 'a'))?.usageCount).toBe(2);
      }),
    );

    it(
      'counts a use that is repeated under its id once, and answers it the same',
      on(async ({ outputs, jobs }, other) => {
        for (const id of ['a', 'b']) await extract(jobs, id, 100);
        expect(await outputs.recordUsage('u', ['a'], NOW, 'use-1')).toEqual(['a']);
        // only a part of it was counted before
        expect(await other.outputs.recordUsage('u', ['a', 'gone', 'b'], NOW + 1, 'use-1')).toEqual(['a', 'b']);
        expect(await outputs.head('u', 'a')).toMatchObject({ usageCount: 1, lastUsage: NOW });
        expect(await outputs.head('u', 'b')).toMatchObject({ usageCount: 1, lastUsage: NOW + 1 });
        expect(await outputs.recordUsage('u', ['a', 'a'], NOW + 2, 'use-2')).toEqual(['a', 'a']);
        expect(await outputs.recordUsage('u', ['a', 'a'], NOW + 3, 'use-2')).toEqual(['a', 'a']);
        expect(await outputs.recordUsage('u', ['a'], NOW + 4)).toEqual(['a']);
        expect((await outputs.head('u', 'a'))?.usageCount).toBe(4);
        // as long after it as a receipt lives, it is another use
        await outputs.recordUsage('u', ['b'], NOW + 1 + LIMITS.receiptMs, 'use-1');
        expect((await outputs.head('u', 'b'))?.usageCount).toBe(2);
      }),
    );

    it(
      'TC-119 counts nothing for an empty list',
      on(async ({ outputs }) => {
        expect(await outputs.recordUsage('u', [], NOW)).toEqual([]);
      }),
    );

    it(
      'loses no use of many recorded at once',
      on(async (one, other) => {
        await extract(one.jobs, 'a', 100);
        await Promise.all(
          Array.from({ length: 30 }, (_, at) => (at % 2 ? one : other).outputs.recordUsage('u', ['a'], NOW + at)),
        );
        expect((await one.outputs.head('u', 'a'))?.usageCount).toBe(30);
      }),
    );

    it(
      'marks exactly the given snapshots, clearing the former marks (F-13)',
      on(async ({ outputs, jobs }) => {
        for (const id of ['a', 'b', 'c']) await extract(jobs, id, 100);
        await outputs.markSelected('u', [ref('a', 100), ref('b', 100)]);
        await outputs.markSelected('u', [ref('b', 100), ref('c', 100), ref('missing', 100)]);
        const marks = (await outputs.heads('u')).map((head) => head.selectedSnapshot);
        expect(marks).toEqual([null, 100, 100]);
      }),
    );

    it(
      'marks nothing for a row that was refreshed meanwhile (F-14); TC-144 the next run marks the new snapshot',
      on(async ({ outputs, jobs }) => {
        await extract(jobs, 'a', 100);
        await extract(jobs, 'a', 101);
        await outputs.markSelected('u', [ref('a', 100)]);
        expect((await outputs.head('u', 'a'))?.selectedSnapshot).toBeNull();
        await outputs.markSelected('u', [ref('a', 101)]);
        expect((await outputs.head('u', 'a'))?.selectedSnapshot).toBe(101);
      }),
    );

    it(
      'TC-115 removes head and texts of the named snapshot only; the job stays, so nothing is extracted again (D-07)',
      on(async ({ outputs, jobs }) => {
        for (const id of ['a', 'b', 'c']) {
          await outputs.putBody('u', ref(id, 100), BODY);
          await extract(jobs, id, 100);
        }
        await outputs.markSelected('u', [ref('b', 100)]);
        const refs = [ref('a', 100), ref('b', 100), ref('c', 99), ref('missing', 1)];
        expect(await outputs.remove('u', refs, { onlyUnselected: true })).toBe(1);
        expect((await outputs.heads('u')).map((head) => head.threadId)).toEqual(['b', 'c']);
        expect([...(await outputs.bodies('u', refs.slice(0, 2))).keys()]).toEqual(['b']);
        expect(await jobs.claim('u', extraction('a'), claimAt(100, 'k'))).toMatchObject({ reason: 'up_to_date' });
        expect(await outputs.remove('u', refs, { onlyUnselected: false })).toBe(1);
        expect((await outputs.heads('u')).map((head) => head.threadId)).toEqual(['c']);
      }),
    );

    it(
      'gives a pruned thread a fresh head when it is extracted again',
      on(async ({ outputs, jobs }) => {
        await extract(jobs, 'a', 100);
        await outputs.recordUsage('u', ['a'], NOW);
        await outputs.remove('u', [ref('a', 100)], { onlyUnselected: true });
        await extract(jobs, 'a', 101);
        expect(await outputs.head('u', 'a')).toMatchObject({ sourceUpdatedAt: 101, usageCount: null, lastUsage: null });
      }),
    );

    it(
      'deletes texts that no head names, but not those whose commit may be on its way',
      on(async ({ outputs, jobs }) => {
        for (const snapshot of [99, 100]) await outputs.putBody('u', ref('kept', snapshot), BODY);
        await extract(jobs, 'kept', 100);
        await jobs.claim('u', extraction('running'), claimAt(100, 'k'));
        await outputs.putBody('u', ref('running', 100), BODY);
        await outputs.putBody('u', ref('nobody', 100), BODY);
        await outputs.putBody('u1', ref('nobody', 100), BODY);
        expect(await outputs.removeOrphanBodies('u')).toBe(2);
        expect(await outputs.removeOrphanBodies('u')).toBe(0);
        const refs = [ref('kept', 100), ref('running', 100), ref('nobody', 100)];
        expect([...(await outputs.bodies('u', refs)).keys()]).toEqual(['kept', 'running']);
        expect((await outputs.bodies('u', [ref('kept', 99)])).size).toBe(0);
        expect((await outputs.bodies('u1', refs)).size).toBe(1);
        expect(await jobs.complete('u', 'k', NOW, done('running', 100))).toBe(true);
      }),
    );
  });
}
