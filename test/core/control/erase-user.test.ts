import { describe, expect, it } from 'vitest';
import { countTraces, eraseUser } from '../../../core/control/erase-user.ts';
import { NO_TRACES, type TraceCounts, type UserTraces } from '../../../core/ports/user-traces.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { MemoryEraseMarks } from '../../doubles/memory-erase-marks.ts';
import { MemoryHeadStore } from '../../doubles/memory-head-store.ts';
import { MemoryJobStore } from '../../doubles/memory-job-store.ts';
import { NOW } from '../../support/sample-state.ts';

/** Names and versions of users; `beforeErase` lets somebody write in between. */
class ScriptedTraces implements UserTraces {
  readonly kept = new Map<string, TraceCounts>();
  beforeErase: () => void = () => {};
  afterErase: () => void = () => {};

  leave(userKey: string, counts: Partial<TraceCounts>): void {
    this.kept.set(userKey, { ...NO_TRACES, ...counts });
  }

  async count(userKey: string): Promise<TraceCounts> {
    return this.kept.get(userKey) ?? NO_TRACES;
  }

  async erase(userKey: string): Promise<TraceCounts> {
    this.beforeErase();
    const removed = await this.count(userKey);
    this.kept.delete(userKey);
    this.afterErase();
    return removed;
  }
}

function makeWorld() {
  const [objects, items] = [new ScriptedTraces(), new ScriptedTraces()];
  const [marks, clock] = [new MemoryEraseMarks(), new FixedClock(NOW)];
  return {
    heads: new MemoryHeadStore(),
    jobs: new MemoryJobStore(),
    objects,
    items,
    traces: [objects, items],
    marks,
    clock,
  };
}

describe('erasing a user', () => {
  it('removes everything of every technology, says how much, and leaves other users alone', async () => {
    const world = makeWorld();
    for (const user of ['user1', 'user10']) {
      world.objects.leave(user, { objects: 2, versions: 5 });
      world.items.leave(user, { items: 7 });
    }
    expect(await countTraces(world, 'user1')).toEqual({ objects: 2, versions: 5, items: 7 });
    expect(await eraseUser(world, 'user1')).toEqual({ objects: 2, versions: 5, items: 7 });
    expect(await countTraces(world, 'user1')).toEqual(NO_TRACES);
    expect(await countTraces(world, 'user10')).toEqual({ objects: 2, versions: 5, items: 7 });
  });

  it('takes from runs in flight their right to commit, before anything is removed (A24)', async () => {
    const world = makeWorld();
    const { epoch } = await world.heads.setFence('u', 'f');
    await world.jobs.claim('u', { kind: 'consolidation' }, { token: 'f', now: NOW, leaseMs: 9 });
    const extraction = { kind: 'extraction', threadId: 't' } as const;
    await world.jobs.claim('u', extraction, { token: 'k', now: NOW, leaseMs: 9, watermark: 1 });
    const to = { version: 1, publishedAt: NOW, summary: 's', pendingNotes: [], places: [] };
    const commits: unknown[] = [];
    world.objects.beforeErase = () => {
      commits.push(
        world.heads.switchTo('u', { from: 0, epoch, fence: 'f', to }),
        world.jobs.fail('u', extraction, 'k', { now: NOW, reason: 'x', outcome: null, retry: 1, spendsRetry: true }),
        world.jobs.complete('u', 'f', NOW, { kind: 'consolidation', completedWatermark: 1 }),
      );
    };
    await expect(eraseUser(world, 'u')).rejects.toMatchObject({ code: 'erase.runs_in_flight' });
    expect(await Promise.all(commits)).toEqual(['lost', false, false]);
  });

  describe('while something runs', () => {
    const extraction = { kind: 'extraction', threadId: 't' } as const;
    const refusal = (waitMs: number) => ({
      kind: 'unavailable',
      code: 'erase.runs_in_flight',
      message: expect.stringContaining(`ask again in ${waitMs / 1_000} s`),
      details: { retry_after_ms: waitMs },
    });
    const atWork = async () => {
      const world = makeWorld();
      await world.jobs.claim('u', { kind: 'consolidation' }, { token: 'f', now: NOW, leaseMs: 60_000 });
      await world.jobs.claim('u', extraction, { token: 'k', now: NOW, leaseMs: 90_000, watermark: 1 });
      world.items.leave('u', { items: 3 });
      return world;
    };

    it('erases all there is, and gives no receipt before the last lease is over', async () => {
      const world = await atWork();
      await expect(eraseUser(world, 'u')).rejects.toMatchObject(refusal(90_000));
      expect(await countTraces(world, 'u')).toEqual(NO_TRACES);
      world.clock.advance(50_000);
      world.objects.leave('u', { objects: 1, versions: 1 }); // written late
      await expect(eraseUser(world, 'u')).rejects.toMatchObject(refusal(40_000));
      expect(await countTraces(world, 'u')).toEqual(NO_TRACES);
      world.items.leave('u', { items: 1 });
      world.clock.advance(40_000);
      expect(await eraseUser(world, 'u')).toEqual({ ...NO_TRACES, items: 1 });
      expect(world.marks.kept.size).toBe(0);
    });

    it('remembers it when it dies after the jobs were cleared', async () => {
      const world = await atWork();
      world.items.beforeErase = () => {
        throw new RangeError('killed');
      };
      await expect(eraseUser(world, 'u')).rejects.toThrow('killed');
      world.items.beforeErase = () => {};
      await expect(eraseUser(world, 'u')).rejects.toMatchObject(refusal(90_000));
    });

    it('sees what began after its first look', async () => {
      const world = makeWorld();
      let cleared = false;
      const clear = world.jobs.clear.bind(world.jobs);
      world.jobs.clear = async (userKey) => {
        await clear(userKey);
        if (!cleared) await world.jobs.claim('u', extraction, { token: 'k', now: NOW, leaseMs: 5_000, watermark: 1 });
        cleared = true;
      };
      await expect(eraseUser(world, 'u')).rejects.toMatchObject(refusal(5_000));
    });

    it('takes a run whose lease is over for dead, and one of another user for none of its business', async () => {
      const world = await atWork();
      expect(await eraseUser(world, 'v')).toEqual(NO_TRACES);
      world.clock.advance(90_000);
      expect(await eraseUser(world, 'u')).toMatchObject({ items: 3 });
    });
  });

  it('goes round again for what a run in flight wrote after its store was cleared, and counts that too', async () => {
    const world = makeWorld();
    world.objects.leave('u', { objects: 1, versions: 1 });
    let late = 2;
    world.items.afterErase = () => {
      if (late-- > 0) world.objects.leave('u', { objects: 1, versions: 3 });
    };
    expect(await eraseUser(world, 'u')).toEqual({ objects: 3, versions: 7, items: 0 });
    expect(await countTraces(world, 'u')).toEqual(NO_TRACES);
  });

  it.each<[keyof TraceCounts]>([['objects'], ['versions'], ['items']])(
    'never says that all is gone while %s are found: it gives up after five rounds',
    async (what) => {
      const world = makeWorld();
      let rounds = 0;
      world.items.afterErase = () => {
        rounds++;
        world.items.leave('u', { [what]: 1 });
      };
      await expect(eraseUser(world, 'u')).rejects.toMatchObject({
        kind: 'unavailable',
        code: 'erase.incomplete',
        details: { rounds: 5 },
      });
      expect(rounds).toBe(5);
      world.items.afterErase = () => {};
      expect(await eraseUser(world, 'u')).toMatchObject({ [what]: 1 });
    },
  );

  it('removes nothing of a user of whom nothing is kept, as often as it is asked', async () => {
    const world = makeWorld();
    for (let time = 0; time < 2; time++) expect(await eraseUser(world, 'nobody')).toEqual(NO_TRACES);
  });

  it('passes on what fails, and a repetition finishes', async () => {
    const world = makeWorld();
    world.objects.leave('u', { objects: 1, versions: 1 });
    world.items.leave('u', { items: 1 });
    world.items.beforeErase = () => {
      throw new RangeError('out');
    };
    await expect(eraseUser(world, 'u')).rejects.toThrow('out');
    world.items.beforeErase = () => {};
    await eraseUser(world, 'u');
    expect(await countTraces(world, 'u')).toEqual(NO_TRACES);
  });
});
