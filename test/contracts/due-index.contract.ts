import { describe, expect, it } from 'vitest';
import type { JobKey } from '../../core/job/job.ts';
import type { DueIndex, DueJob } from '../../core/ports/due-index.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import { LIMITS } from '../../core/settings.ts';
import { type Ground, onGround } from '../support/ground.ts';
import { claimAt, done, extraction, LEASE } from '../support/job-steps.ts';
import { NOW } from '../support/sample-state.ts';

export interface DueContractStores {
  readonly jobs: JobStore;
  readonly due: DueIndex;
}

const CONSOLIDATION: JobKey = { kind: 'consolidation' };

/** What is due in all shards, page after page. */
async function findAll(due: DueIndex, kind: JobKey['kind'], now: number, limit = 10): Promise<DueJob[]> {
  const shards = Array.from({ length: due.shards }, (_, shard) => findIn(due, { kind, now, limit, shard }));
  return (await Promise.all(shards)).flat();
}

async function findIn(
  due: DueIndex,
  query: { kind: JobKey['kind']; now: number; limit: number; shard: number },
): Promise<DueJob[]> {
  const jobs: DueJob[] = [];
  let after: string | null = null;
  do {
    const page = await due.due({ ...query, after });
    expect(page.jobs.length).toBeLessThanOrEqual(query.limit);
    expect(page.unreadable).toBe(0);
    jobs.push(...page.jobs);
    after = page.next;
  } while (after !== null);
  return jobs;
}

async function onlyOne(due: DueIndex, kind: JobKey['kind'], now: number): Promise<DueJob> {
  const [job, ...more] = await findAll(due, kind, now);
  expect(more).toEqual([]);
  if (job === undefined) throw new Error('nothing is due');
  return job;
}

const threadOf = ({ key }: DueJob): string => (key.kind === 'extraction' ? key.threadId : '');

/** Every index of due jobs keeps to this; when a job is due is settled by `core/job/` and tested there. */
export function dueIndexContract(name: string, makeGround: () => Ground<DueContractStores>): void {
  const on = (check: Parameters<typeof onGround<DueContractStores>>[1]) => () => onGround(makeGround(), check);

  describe(`due index: ${name}`, () => {
    it(
      'finds what is due at this time or earlier, and nothing that is due later',
      on(async ({ jobs, due }) => {
        await jobs.wake('u', 'early', NOW - 1);
        await jobs.wake('u', 'now', NOW);
        await jobs.wake('u', 'later', NOW + 1);
        await jobs.enqueueConsolidation('u', 100);
        expect(await findAll(due, 'extraction', NOW)).toEqual([
          { userKey: 'u', key: extraction('early'), dueAt: NOW - 1 },
          { userKey: 'u', key: extraction('now'), dueAt: NOW },
        ]);
        expect(await findAll(due, 'consolidation', NOW)).toEqual([{ userKey: 'u', key: CONSOLIDATION, dueAt: 0 }]);
      }),
    );

    it(
      'finds nothing where nothing is to be done: no job, done, failed for good, skipped',
      on(async ({ jobs, due }) => {
        expect(await findAll(due, 'extraction', Number.MAX_SAFE_INTEGER)).toEqual([]);
        await jobs.claim('u', extraction('done'), claimAt(100, 'a'));
        await jobs.complete('u', 'a', NOW, done('done', 100));
        await jobs.claim('u', extraction('failed'), claimAt(100, 'b'));
        await jobs.fail('u', extraction('failed'), 'b', { ...failure(), retry: 'never' });
        await jobs.recordOutcome('u', 'skipped', { kind: 'skipped', reason: 'too_old' });
        await jobs.wake('u', 'taken-back', NOW);
        await jobs.wake('u', 'taken-back', null);
        await jobs.wake('u', 'forgotten', NOW);
        await jobs.removeExtraction('u', 'forgotten');
        await jobs.enqueueConsolidation('u', 100);
        await jobs.claim('u', CONSOLIDATION, claimAt(0, 'c'));
        await jobs.complete('u', 'c', NOW, { kind: 'consolidation', completedWatermark: 100 });
        expect(await findAll(due, 'extraction', Number.MAX_SAFE_INTEGER)).toEqual([]);
        expect(await findAll(due, 'consolidation', Number.MAX_SAFE_INTEGER)).toEqual([]);
      }),
    );

    it(
      'finds a running job at the end of its lease, also after a heartbeat',
      on(async ({ jobs, due }) => {
        for (const key of [extraction('t'), CONSOLIDATION]) {
          await jobs.claim('u', key, claimAt(100, 'k'));
          expect(await findAll(due, key.kind, NOW + LEASE - 1)).toEqual([]);
          expect(await onlyOne(due, key.kind, NOW + LEASE)).toEqual({ userKey: 'u', key, dueAt: NOW + LEASE });
          await jobs.heartbeat('u', key, 'k', { now: NOW + 50, leaseMs: LEASE });
          expect(await findAll(due, key.kind, NOW + LEASE + 49)).toEqual([]);
          expect(await onlyOne(due, key.kind, NOW + LEASE + 50)).toMatchObject({ key, dueAt: NOW + LEASE + 50 });
        }
      }),
    );

    it(
      'finds a failure at its retry, a cooled down consolidation with late input, and what a redrive revived',
      on(async ({ jobs, due }) => {
        await jobs.claim('u', extraction('t'), claimAt(100, 'k'));
        await jobs.fail('u', extraction('t'), 'k', { ...failure(), retry: 70 });
        expect(await onlyOne(due, 'extraction', NOW + 70)).toMatchObject({ dueAt: NOW + 70 });
        await jobs.claim('u', extraction('t'), { ...claimAt(100, 'k2'), now: NOW + 70 });
        await jobs.fail('u', extraction('t'), 'k2', { ...failure(), retry: 'never' });
        await jobs.redrive('u');
        expect(await onlyOne(due, 'extraction', NOW)).toMatchObject({ dueAt: 0 });

        await jobs.claim('u', CONSOLIDATION, claimAt(0, 'c'));
        await jobs.enqueueConsolidation('u', 100);
        await jobs.complete('u', 'c', NOW, { kind: 'consolidation', completedWatermark: 50 });
        const cooled = NOW + LIMITS.consolidationCooldownMs;
        expect(await findAll(due, 'consolidation', cooled - 1)).toEqual([]);
        expect(await onlyOne(due, 'consolidation', cooled)).toMatchObject({ dueAt: cooled });
      }),
    );

    it(
      'pages through a shard, the longest due first, each job once, ties included',
      on(async ({ jobs, due }) => {
        const ids = Array.from({ length: 23 }, (_, at) => `t${String(at).padStart(2, '0')}`);
        for (const [at, id] of ids.entries()) await jobs.wake('u', id, NOW - Math.floor(at / 3));
        for (const limit of [1, 5, 23, 100]) {
          const found = await findAll(due, 'extraction', NOW, limit);
          expect(found.map(threadOf).sort()).toEqual(ids);
          const times = found.map(({ dueAt }) => dueAt);
          expect(times).toEqual(times.toSorted((a, b) => a - b));
        }
      }),
    );

    it(
      'goes on behind the last job of a page, also when those before it were handed on meanwhile',
      on(async ({ jobs, due }, other) => {
        for (let at = 0; at < 9; at++) await jobs.wake('u', `t${at}`, NOW - 9 + at);
        const shard = await shardOf(due, 'u');
        const seen: string[] = [];
        let after: string | null = null;
        do {
          const page = await due.due({ kind: 'extraction', shard, now: NOW, limit: 2, after });
          for (const job of page.jobs) expect(await other.due.postpone(job, NOW + 100)).toBe(true);
          seen.push(...page.jobs.map(threadOf));
          after = page.next;
        } while (after !== null);
        expect(seen).toEqual(Array.from({ length: 9 }, (_, at) => `t${at}`));
        expect(await findAll(due, 'extraction', NOW)).toEqual([]);
        expect(await findAll(due, 'extraction', NOW + 100)).toHaveLength(9);
      }),
    );

    it(
      'postpones a job only while it is due as it was found, and leaves the job itself as it is',
      on(async ({ jobs, due }, other) => {
        await jobs.wake('u', 't', NOW - 5);
        await jobs.enqueueConsolidation('u', 100);
        for (const key of [extraction('t'), CONSOLIDATION]) {
          const found = await onlyOne(due, key.kind, NOW);
          const before = await jobs.get('u', key);
          expect(await due.postpone(found, NOW + 60)).toBe(true);
          expect(await other.due.postpone(found, NOW + 70)).toBe(false);
          expect(await findAll(due, key.kind, NOW + 59)).toEqual([]);
          expect(await onlyOne(due, key.kind, NOW + 60)).toEqual({ userKey: 'u', key, dueAt: NOW + 60 });
          expect(await jobs.get('u', key)).toEqual(before);
        }
      }),
    );

    it(
      'does not postpone a job that was claimed since; its claim and its end set the time anew',
      on(async ({ jobs, due }, other) => {
        await jobs.wake('u', 't', NOW);
        const found = await onlyOne(due, 'extraction', NOW);
        await other.jobs.claim('u', extraction('t'), claimAt(100, 'k'));
        expect(await due.postpone(found, NOW + 60)).toBe(false);
        expect(await onlyOne(due, 'extraction', NOW + LEASE)).toMatchObject({ dueAt: NOW + LEASE });
        await jobs.complete('u', 'k', NOW, done('t', 100));
        expect(await due.postpone({ ...found, dueAt: NOW + LEASE }, NOW + 60)).toBe(false);
        expect(await findAll(due, 'extraction', Number.MAX_SAFE_INTEGER)).toEqual([]);
        expect(await due.postpone({ ...found, key: extraction('missing') }, NOW + 60)).toBe(false);

        await jobs.wake('u', 't', NOW);
        expect(await due.postpone(await onlyOne(due, 'extraction', NOW), NOW + 60)).toBe(true);
        await jobs.wake('u', 't', NOW - 9);
        expect(await onlyOne(due, 'extraction', NOW)).toMatchObject({ dueAt: NOW - 9 });
      }),
    );

    it(
      'lets one of two sweeps have a job',
      on(async (one, other) => {
        await one.jobs.wake('u', 't', NOW);
        const found = await onlyOne(one.due, 'extraction', NOW);
        const won = await Promise.all([one.due.postpone(found, NOW + 60), other.due.postpone(found, NOW + 61)]);
        expect(won.filter(Boolean)).toHaveLength(1);
        const { dueAt } = await onlyOne(one.due, 'extraction', NOW + 61);
        expect(dueAt).toBe(won[0] ? NOW + 60 : NOW + 61);
      }),
    );

    it(
      'keeps every user in one shard, both kinds, and spreads users over the shards there are',
      on(async ({ jobs, due }) => {
        const users = Array.from({ length: 24 }, (_, at) => `user${at}`);
        for (const user of users) {
          await jobs.wake(user, 't', NOW);
          await jobs.enqueueConsolidation(user, 100);
        }
        for (const kind of ['extraction', 'consolidation'] as const) {
          const found = await findAll(due, kind, NOW, 4);
          expect(found.map(({ userKey }) => userKey).sort()).toEqual(users.toSorted());
          const home = new Set(await Promise.all(users.map((user) => shardOf(due, user, kind))));
          expect(home.size > 1).toBe(due.shards > 1);
        }
      }),
    );
  });
}

/** The shard that a user's due jobs lie in. */
async function shardOf(due: DueIndex, userKey: string, kind: JobKey['kind'] = 'extraction'): Promise<number> {
  for (let shard = 0; shard < due.shards; shard++) {
    const jobs = await findIn(due, { kind, now: NOW, limit: 50, shard });
    if (jobs.some((job) => job.userKey === userKey)) return shard;
  }
  throw new Error(`nothing of ${userKey} is due`);
}

function failure() {
  return { now: NOW, reason: 'x', outcome: null, retry: 0, spendsRetry: true } as const;
}
