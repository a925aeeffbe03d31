import { describe, expect, it } from 'vitest';
import type { ClaimRefusal, JobKey } from '../../core/job/job.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import { LIMITS } from '../../core/settings.ts';
import { type Ground, onGround } from '../support/ground.ts';
import { claimAt, done, extract, extraction, type JobContractStores, LEASE } from '../support/job-steps.ts';
import { NOW, sampleHead } from '../support/sample-state.ts';

const CONSOLIDATION: JobKey = { kind: 'consolidation' };

async function failed(jobs: JobStore): Promise<void> {
  await jobs.claim('u', CONSOLIDATION, claimAt(0, 'k'));
  await jobs.fail('u', CONSOLIDATION, 'k', { now: NOW, reason: 'x', outcome: null, retry: 50, spendsRetry: true });
}

async function succeeded(jobs: JobStore): Promise<void> {
  await jobs.claim('u', CONSOLIDATION, claimAt(0, 'k'));
  await jobs.complete('u', 'k', NOW, { kind: 'consolidation', completedWatermark: 100 });
  await jobs.enqueueConsolidation('u', 200);
}

/** Every job store keeps to this; the rules of the transitions have their own tests in `test/core/job/`. */
export function jobStoreContract(name: string, makeGround: () => Ground<JobContractStores>): void {
  const on = (check: Parameters<typeof onGround<JobContractStores>>[1]) => () => onGround(makeGround(), check);

  describe(`job store: ${name}`, () => {
    it(
      'has no job before anything happened',
      on(async ({ jobs }) => {
        expect(await jobs.get('u', extraction('t'))).toBeUndefined();
        expect(await jobs.get('u', CONSOLIDATION)).toBeUndefined();
        expect(await jobs.listExtractions('u')).toEqual(new Map());
      }),
    );

    it(
      'lets exactly one of many concurrent claims win, over both connections (B-03)',
      on(async (one, other) => {
        for (const key of [extraction('t'), CONSOLIDATION]) {
          const claims = await Promise.all(
            Array.from({ length: 12 }, (_, at) => (at % 2 ? one : other).jobs.claim('u', key, claimAt(100, `k${at}`))),
          );
          const won = claims.filter((claim) => claim.kind === 'claimed');
          expect(won).toHaveLength(1);
          expect((await one.jobs.get('u', key))?.token).toBe(won[0]?.token);
          expect(claims.filter((claim) => claim.kind === 'refused' && claim.reason === 'running')).toHaveLength(11);
        }
      }),
    );

    it.each<[string, (jobs: JobStore) => Promise<unknown>, number, 'claimed' | ClaimRefusal]>([
      ['waits, without a lease', async () => {}, 0, 'claimed'],
      [
        'runs, with a lease that has ended',
        (jobs) => jobs.claim('u', CONSOLIDATION, claimAt(0, 'dead')),
        LEASE,
        'claimed',
      ],
      [
        'runs, with a lease that goes on',
        (jobs) => jobs.claim('u', CONSOLIDATION, claimAt(0, 'live')),
        LEASE - 1,
        'running',
      ],
      ['failed, and its time has come', failed, 50, 'claimed'],
      ['failed, and its time has not come', failed, 49, 'retry_unavailable'],
      ['ended well a short while ago', succeeded, LIMITS.consolidationCooldownMs - 1, 'cooldown'],
      ['ended well long enough ago', succeeded, LIMITS.consolidationCooldownMs, 'claimed'],
    ])(
      'A6 a consolidation that %s is claimed by the next tick just where it may be',
      async (_, prepare, later, expected) => {
        await onGround(makeGround(), async ({ jobs }) => {
          await jobs.enqueueConsolidation('u', 100);
          await prepare(jobs);
          const claim = await jobs.claim('u', CONSOLIDATION, { ...claimAt(0, 'next'), now: NOW + later });
          expect(claim.kind === 'claimed' ? 'claimed' : claim.reason).toBe(expected);
          if (expected !== 'claimed') return;
          const stale = { now: NOW + later, reason: 'x', outcome: null, retry: 0, spendsRetry: true };
          expect(await jobs.fail('u', CONSOLIDATION, 'dead', stale)).toBe(false);
          expect(await jobs.get('u', CONSOLIDATION)).toMatchObject({ status: 'running', token: 'next' });
        });
      },
    );

    it(
      'keeps every field of a job and a head over closing and reopening',
      on(async ({ jobs, outputs }, _other, reopen) => {
        await jobs.claim('u', extraction('t'), claimAt(100, 'k'));
        await jobs.complete('u', 'k', NOW + 5, done('t', 100));
        await jobs.claim('u', extraction('t'), { ...claimAt(101, 'k2'), now: NOW + 6 });
        await jobs.fail('u', extraction('t'), 'k2', {
          now: NOW + 7,
          reason: 'model_invalid',
          outcome: { kind: 'failed', reason: 'model_invalid', detail: 'no JSON' },
          retry: 50,
          spendsRetry: true,
        });
        await jobs.enqueueConsolidation('u', 100);
        const before = [
          await jobs.get('u', extraction('t')),
          await jobs.get('u', CONSOLIDATION),
          await outputs.head('u', 't'),
        ];
        const again = reopen();
        expect([
          await again.jobs.get('u', extraction('t')),
          await again.jobs.get('u', CONSOLIDATION),
          await again.outputs.head('u', 't'),
        ]).toEqual(before);
        expect(before[0]).toEqual({
          status: 'error',
          token: 'k2',
          startedAt: NOW + 6,
          finishedAt: NOW + 7,
          leaseUntil: null,
          retryAt: NOW + 57,
          retryRemaining: 2,
          attempts: 1,
          lastError: 'model_invalid',
          inputWatermark: 101,
          wakeAt: null,
          successWatermark: 100,
          outcome: { kind: 'failed', reason: 'model_invalid', detail: 'no JSON' },
        });
        expect(before[2]).toEqual(
          sampleHead({ threadId: 't', sourceUpdatedAt: 100, slug: 'a-slug', generatedAt: NOW }),
        );
      }),
    );

    it(
      'refuses every write of a token that lost the job, and changes nothing by it',
      on(async ({ jobs, outputs }, other) => {
        const key = extraction('t');
        await jobs.claim('u', key, claimAt(100, 'old'));
        await other.jobs.claim('u', key, { ...claimAt(100, 'new'), now: NOW + LEASE });
        const owned = await jobs.get('u', key);
        expect(owned?.token).toBe('new');
        expect(await jobs.heartbeat('u', key, 'old', { now: NOW, leaseMs: 9_999 })).toBe(false);
        expect(await jobs.complete('u', 'old', NOW, done('t', 100))).toBe(false);
        expect(await jobs.fail('u', key, 'old', failure())).toBe(false);
        expect(await jobs.get('u', key)).toEqual(owned);
        expect(await outputs.heads('u')).toEqual([]);
        expect(await other.jobs.heartbeat('u', key, 'new', { now: NOW + LEASE, leaseMs: 7 })).toBe(true);
        expect((await jobs.get('u', key))?.leaseUntil).toBe(NOW + LEASE + 7);
        expect(await other.jobs.complete('u', 'new', NOW, done('t', 100))).toBe(true);
        expect(await other.jobs.complete('u', 'new', NOW, done('t', 101))).toBe(false);
        expect((await outputs.head('u', 't'))?.sourceUpdatedAt).toBe(100);
      }),
    );

    it(
      'commits job and head together; refuses a claim at or below the head (B-01)',
      on(async ({ jobs, outputs }) => {
        await extract(jobs, 't', 100);
        expect(await jobs.get('u', extraction('t'))).toMatchObject({ status: 'done', successWatermark: 100 });
        expect(await outputs.head('u', 't')).toMatchObject({ sourceUpdatedAt: 100, usageCount: null });
        expect(await jobs.claim('u', extraction('t'), claimAt(100, 'k2'))).toMatchObject({ reason: 'up_to_date' });
        expect(await jobs.claim('u', extraction('t'), claimAt(101, 'k3'))).toMatchObject({ kind: 'claimed' });
      }),
    );

    it(
      'keeps use and selection marks when an output is refreshed (C-03)',
      on(async ({ jobs, outputs }) => {
        await extract(jobs, 't', 100);
        await outputs.recordUsage('u', ['t'], NOW + 1);
        await outputs.markSelected('u', [{ threadId: 't', sourceUpdatedAt: 100 }]);
        await extract(jobs, 't', 101);
        expect(await outputs.head('u', 't')).toMatchObject({
          sourceUpdatedAt: 101,
          usageCount: 1,
          lastUsage: NOW + 1,
          selectedSnapshot: 100,
        });
      }),
    );

    it(
      'does not replace a head by an older snapshot (C-02)',
      on(async ({ jobs, outputs }) => {
        await extract(jobs, 't', 100);
        await jobs.claim('u', extraction('t'), claimAt(101, 'k2'));
        expect(await jobs.complete('u', 'k2', NOW, done('t', 99))).toBe(true);
        expect(await outputs.head('u', 't')).toMatchObject({ sourceUpdatedAt: 100 });
        expect(await jobs.get('u', extraction('t'))).toMatchObject({ status: 'done', successWatermark: 101 });
      }),
    );

    it(
      'removes the head when a newer rollout gives no output, and writes none where there was none (C-06, C-07)',
      on(async ({ jobs, outputs }) => {
        await extract(jobs, 't', 100);
        await jobs.claim('u', extraction('t'), claimAt(101, 'k2'));
        await jobs.complete('u', 'k2', NOW, { ...done('t', 101), outcome: { kind: 'no_output' }, output: null });
        await jobs.claim('u', extraction('n'), claimAt(5, 'k3'));
        await jobs.complete('u', 'k3', NOW, { ...done('n', 5), outcome: { kind: 'no_output' }, output: null });
        expect(await outputs.heads('u')).toEqual([]);
        expect(await jobs.claim('u', extraction('n'), claimAt(5, 'k4'))).toMatchObject({ reason: 'up_to_date' });
      }),
    );

    it(
      'TC-084 hands the watermark of an output that went to the next consolidation after the cooldown',
      on(async ({ jobs, outputs }) => {
        await extract(jobs, 't', 100);
        await jobs.enqueueConsolidation('u', 100);
        expect(await jobs.claim('u', CONSOLIDATION, claimAt(0, 'c'))).toMatchObject({ inputWatermark: 100 });
        await jobs.complete('u', 'c', NOW, { kind: 'consolidation', completedWatermark: 100 });
        await jobs.claim('u', extraction('t'), claimAt(101, 'k'));
        await jobs.complete('u', 'k', NOW, { ...done('t', 101), outcome: { kind: 'no_output' }, output: null });
        await jobs.enqueueConsolidation('u', 101);
        expect(await outputs.heads('u')).toEqual([]);
        const later = { ...claimAt(0, 'd'), now: NOW + LIMITS.consolidationCooldownMs };
        expect(await jobs.claim('u', CONSOLIDATION, { ...later, now: later.now - 1 })).toMatchObject({
          reason: 'cooldown',
        });
        expect(await jobs.claim('u', CONSOLIDATION, later)).toMatchObject({ inputWatermark: 101 });
      }),
    );

    it(
      'loses no enqueue of many at once, and the watermark rises with each (F-08)',
      on(async (one, other) => {
        await Promise.all(
          Array.from({ length: 20 }, (_, at) => (at % 2 ? one : other).jobs.enqueueConsolidation('u', 0)),
        );
        expect((await one.jobs.get('u', CONSOLIDATION))?.inputWatermark).toBe(19);
      }),
    );

    it(
      'records an outcome without a claim, creating the job, and not while the job runs',
      on(async ({ jobs }) => {
        await jobs.recordOutcome('u', 't', { kind: 'skipped', reason: 'too_old', detail: 'x' });
        expect(await jobs.get('u', extraction('t'))).toMatchObject({
          status: 'pending',
          outcome: { kind: 'skipped', reason: 'too_old', detail: 'x' },
        });
        await jobs.claim('u', extraction('t'), claimAt(100, 'k'));
        await jobs.recordOutcome('u', 't', { kind: 'skipped', reason: 'disabled' });
        expect((await jobs.get('u', extraction('t')))?.outcome).toMatchObject({ reason: 'too_old' });
      }),
    );

    it(
      'answers a claim repeated under its own token as the first time, with a fresh lease and no further attempt (C22)',
      on(async (one, other) => {
        for (const key of [extraction('t'), CONSOLIDATION]) {
          const first = await one.jobs.claim('u', key, claimAt(100, 'k'));
          const again = await other.jobs.claim('u', key, { ...claimAt(100, 'k'), now: NOW + 5 });
          expect(again).toEqual({ ...first, leaseUntil: NOW + 5 + LEASE });
          expect(await one.jobs.get('u', key)).toMatchObject({
            attempts: 1,
            startedAt: NOW,
            leaseUntil: NOW + 5 + LEASE,
          });
          expect(await one.jobs.claim('u', key, claimAt(100, 'else'))).toMatchObject({ reason: 'running' });
        }
      }),
    );

    it(
      'is ended once by a holder and the run that takes over, whoever comes first (C24)',
      on(async (one, other) => {
        for (let round = 0; round < 6; round++) {
          const key = extraction(`t${round}`);
          const taken = { ...claimAt(100, 'new'), now: NOW + LEASE };
          await one.jobs.claim('u', key, claimAt(100, 'old'));
          const [ended, , claim] = await Promise.all([
            one.jobs.complete('u', 'old', NOW + LEASE, done(`t${round}`, 100)),
            one.jobs.heartbeat('u', key, 'old', { now: NOW, leaseMs: LEASE }),
            other.jobs.claim('u', key, taken),
          ]);
          const late = await other.jobs.complete('u', 'new', NOW + LEASE, done(`t${round}`, 100));
          expect([ended, late].filter(Boolean)).toHaveLength(1);
          expect(claim.kind === 'claimed').toBe(late);
          expect(await one.jobs.get('u', key)).toMatchObject({ status: 'done', token: ended ? 'old' : 'new' });
        }
      }),
    );

    it(
      'extends a lease and counts a use while others change the job, and loses none of it',
      on(async (one, other) => {
        await extract(one.jobs, 't', 100);
        await one.jobs.claim('u', extraction('t'), claimAt(101, 'k'));
        const beats = await Promise.all(
          Array.from({ length: 8 }, async (_, at) => {
            await other.outputs.recordUsage('u', ['t'], NOW + at);
            await one.jobs.wake('u', 't', NOW + 50 - at);
            return other.jobs.heartbeat('u', extraction('t'), 'k', { now: NOW + 9, leaseMs: LEASE });
          }),
        );
        expect(beats).toEqual(Array.from({ length: 8 }, () => true));
        expect((await one.outputs.head('u', 't'))?.usageCount).toBe(8);
        expect(await one.jobs.get('u', extraction('t'))).toMatchObject({
          status: 'running',
          leaseUntil: NOW + 9 + LEASE,
          wakeAt: NOW + 43,
        });
      }),
    );

    it(
      'wakes a thread at the earliest time asked for, until it is taken away or used up by a claim',
      on(async ({ jobs }) => {
        const wakeAt = async () => (await jobs.get('u', extraction('t')))?.wakeAt;
        await jobs.wake('u', 't', null);
        expect(await wakeAt()).toBeUndefined();
        await jobs.wake('u', 't', NOW + 20);
        await jobs.wake('u', 't', NOW + 10);
        await jobs.wake('u', 't', NOW + 30);
        expect(await jobs.get('u', extraction('t'))).toMatchObject({ status: 'pending', wakeAt: NOW + 10 });
        await jobs.wake('u', 't', null);
        expect(await wakeAt()).toBeNull();
        await jobs.wake('u', 't', 0);
        expect(await wakeAt()).toBe(0);
        await jobs.claim('u', extraction('t'), claimAt(100, 'k'));
        expect(await wakeAt()).toBeNull();
        await jobs.wake('u', 't', NOW + 40);
        expect(await jobs.claim('u', extraction('t'), claimAt(100, 'k2'))).toMatchObject({ reason: 'running' });
        expect(await wakeAt()).toBe(NOW + 40);
        await jobs.complete('u', 'k', NOW, done('t', 100));
        expect(await wakeAt()).toBe(NOW + 40);
        expect(await jobs.claim('u', extraction('t'), claimAt(100, 'k3'))).toMatchObject({ reason: 'up_to_date' });
        expect(await wakeAt()).toBeNull();
      }),
    );

    it(
      'records with an outcome when to look again, and ends a retry that was waiting',
      on(async ({ jobs }) => {
        await jobs.claim('u', extraction('t'), claimAt(100, 'k'));
        await jobs.fail('u', extraction('t'), 'k', { ...failure(), retry: 70 });
        await jobs.recordOutcome('u', 't', { kind: 'deferred', reason: 'budget' }, NOW + 9);
        expect(await jobs.get('u', extraction('t'))).toMatchObject({ retryAt: null, wakeAt: NOW + 9 });
        await jobs.recordOutcome('u', 't', { kind: 'skipped', reason: 'not_idle' });
        expect(await jobs.get('u', extraction('t'))).toMatchObject({ status: 'error', wakeAt: null });
      }),
    );

    it(
      'revives failed extractions once, keeps their outputs, and leaves the rest alone',
      on(async ({ jobs, outputs }) => {
        await extract(jobs, 'fine', 100);
        await extract(jobs, 'broken', 100);
        await jobs.claim('u', extraction('broken'), claimAt(101, 'k'));
        await jobs.fail('u', extraction('broken'), 'k', { ...failure(), retry: 'never' });
        expect(await jobs.claim('u', extraction('broken'), claimAt(101, 'k2'))).toMatchObject({
          reason: 'retry_exhausted',
        });
        expect(await jobs.redrive('u')).toEqual(['broken']);
        expect(await jobs.redrive('u')).toEqual([]);
        expect((await outputs.head('u', 'broken'))?.sourceUpdatedAt).toBe(100);
        expect(await jobs.claim('u', extraction('broken'), claimAt(101, 'k3'))).toMatchObject({ kind: 'claimed' });
      }),
    );

    it(
      "removes a thread's job and head in one, and its run in flight loses ownership (D-01)",
      on(async ({ jobs, outputs }) => {
        await extract(jobs, 't', 100);
        await extract(jobs, 'u2', 100);
        await jobs.claim('u', extraction('t'), claimAt(101, 'k'));
        expect(await jobs.removeExtraction('u', 't')).toMatchObject({ threadId: 't', sourceUpdatedAt: 100 });
        expect(await jobs.removeExtraction('u', 't')).toBeUndefined();
        expect(await jobs.complete('u', 'k', NOW, done('t', 101))).toBe(false);
        expect(await jobs.get('u', extraction('t'))).toBeUndefined();
        expect((await outputs.heads('u')).map((head) => head.threadId)).toEqual(['u2']);
      }),
    );

    it(
      'TC-127 clears jobs of both kinds and heads; the same threads are claimable again (D-02, D-03)',
      on(async ({ jobs, outputs }) => {
        await extract(jobs, 't', 100);
        await jobs.enqueueConsolidation('u', 100);
        await jobs.claim('u', CONSOLIDATION, claimAt(0, 'c'));
        await jobs.clear('u');
        expect(await outputs.heads('u')).toEqual([]);
        expect(await jobs.listExtractions('u')).toEqual(new Map());
        expect(await jobs.complete('u', 'c', NOW, { kind: 'consolidation', completedWatermark: 1 })).toBe(false);
        expect(await jobs.get('u', CONSOLIDATION)).toBeUndefined();
        expect(await jobs.claim('u', extraction('t'), claimAt(100, 'k'))).toMatchObject({ kind: 'claimed' });
      }),
    );

    it(
      'keeps users apart, also where one key begins like another',
      on(async ({ jobs, outputs }) => {
        await extract(jobs, 't', 100);
        await jobs.enqueueConsolidation('u', 100);
        for (const user of ['u1', 'U', 'u%']) {
          expect(await jobs.listExtractions(user)).toEqual(new Map());
          expect(await outputs.heads(user)).toEqual([]);
          await jobs.clear(user);
          expect(await jobs.redrive(user)).toEqual([]);
        }
        expect(await jobs.get('u', extraction('t'))).toBeDefined();
        expect(await jobs.get('u', CONSOLIDATION)).toBeDefined();
      }),
    );

    it(
      'lists extractions by thread id in byte order',
      on(async ({ jobs }) => {
        for (const id of ['b', 'B', 'a.1', 'a', '_'])
          await jobs.recordOutcome('u', id, { kind: 'skipped', reason: 'source' });
        expect([...(await jobs.listExtractions('u')).keys()]).toEqual(['B', '_', 'a', 'a.1', 'b']);
      }),
    );
  });
}

function failure() {
  return { now: NOW, reason: 'x', outcome: null, retry: 0, spendsRetry: true } as const;
}
