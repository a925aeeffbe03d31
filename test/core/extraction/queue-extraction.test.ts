import { beforeEach, describe, expect, it } from 'vitest';
import { queueExtraction, type UploadFollowUp } from '../../../core/extraction/queue-extraction.ts';
import { DEFAULT_SETTINGS, LIMITS } from '../../../core/settings.ts';
import type { Thread } from '../../../core/thread/thread.ts';
import { HOUR_MS } from '../../../core/time.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { MemoryJobQueue } from '../../doubles/memory-job-queue.ts';
import { MemoryJobStore } from '../../doubles/memory-job-store.ts';
import { RecordingTelemetry } from '../../doubles/recording-telemetry.ts';
import { makeThread, NOW, THREAD_ID } from './sample-session.ts';

const USER = 'user-1';
const KEY = { kind: 'extraction', threadId: THREAD_ID } as const;
const MESSAGE = { kind: 'thread-due', userKey: USER, threadId: THREAD_ID };

let world: ReturnType<typeof makeWorld>;
beforeEach(() => {
  world = makeWorld();
});

function makeWorld() {
  const [queue, jobs, clock, telemetry] = [
    new MemoryJobQueue(),
    new MemoryJobStore(),
    new FixedClock(NOW),
    new RecordingTelemetry(),
  ];
  return { queue, jobs, clock, telemetry };
}

function follow(more: Partial<Thread>, isNew: boolean): Promise<UploadFollowUp> {
  return queueExtraction(world, { userKey: USER, thread: makeThread(more), settings: DEFAULT_SETTINGS, isNew });
}

/** A run of this thread at this content that has not ended. */
async function claim(watermark: number): Promise<void> {
  const request = { token: 'token-1', now: NOW, leaseMs: LIMITS.extractionLeaseMs, watermark };
  expect((await world.jobs.claim(USER, KEY, request)).kind).toBe('claimed');
}

describe('what follows on an upload', () => {
  it('puts the thread into its user’s turn, and writes nothing', async () => {
    expect(await follow({}, true)).toBe('queued');
    expect(world.queue.drain()).toEqual([MESSAGE]);
    expect(await world.jobs.get(USER, KEY)).toBeUndefined();
  });

  it('does not queue a session that goes on: the end of its idle wait is recorded instead (D23)', async () => {
    expect(await follow({ updatedAt: NOW - HOUR_MS }, true)).toBe('skipped');
    expect(world.queue.drain()).toEqual([]);
    expect(await world.jobs.get(USER, KEY)).toMatchObject({
      outcome: { kind: 'skipped', reason: 'not_idle' },
      wakeAt: NOW - HOUR_MS + DEFAULT_SETTINGS.minRolloutIdleHours * HOUR_MS,
    });
    expect(world.telemetry.events).toMatchObject([{ name: 'extraction.ended' }]);
  });

  it('takes its wake from a thread that is never extracted', async () => {
    await world.jobs.wake(USER, THREAD_ID, NOW + 1);
    expect(await follow({ source: 'exec' }, true)).toBe('skipped');
    expect(world.queue.drain()).toEqual([]);
    expect(await world.jobs.get(USER, KEY)).toMatchObject({ outcome: { reason: 'source' }, wakeAt: null });
  });

  it('queues what a person asked for, be it old or in use', async () => {
    expect(await follow({ updatedAt: NOW - 1, requestedAt: NOW }, true)).toBe('queued');
    expect(await follow({ updatedAt: NOW - 90 * 24 * HOUR_MS, requestedAt: NOW }, true)).toBe('queued');
    expect(world.queue.drain()).toEqual([MESSAGE, MESSAGE]);
  });

  it('queues a known upload again while nobody has claimed its content: its message may be lost', async () => {
    await world.jobs.wake(USER, THREAD_ID, NOW + 1);
    expect(await follow({}, false)).toBe('queued');
    await claim(makeThread().updatedAt - 1);
    expect(await follow({}, false)).toBe('queued');
  });

  it('leaves a known upload to its job once it was claimed at that content: running, failed or done', async () => {
    const { updatedAt } = makeThread();
    await claim(updatedAt);
    expect(await follow({}, false)).toBe('settled');
    const failure = { now: NOW, reason: 'x', outcome: null, retry: HOUR_MS, spendsRetry: true };
    await world.jobs.fail(USER, KEY, 'token-1', failure);
    const job = await world.jobs.get(USER, KEY);
    expect(await follow({}, false)).toBe('settled');
    expect(await follow({ updatedAt: updatedAt - HOUR_MS, source: 'exec' }, false)).toBe('settled');
    expect(await world.jobs.get(USER, KEY)).toEqual(job);
    expect(world.queue.drain()).toEqual([]);
  });
});
