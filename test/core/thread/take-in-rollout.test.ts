import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../core/settings.ts';
import { takeInRollout } from '../../../core/thread/take-in-rollout.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { MemoryJobStore } from '../../doubles/memory-job-store.ts';
import { MemoryRolloutStore } from '../../doubles/memory-rollout-store.ts';
import { MemoryThreadStore } from '../../doubles/memory-thread-store.ts';
import { codexRollout } from '../../support/rollout-builder.ts';
import { NOW, sampleThread } from '../../support/sample-state.ts';

const KEY = { kind: 'extraction', threadId: 't' } as const;
const EARLIER = NOW - 3_600_000;

function makeWorld() {
  return {
    rollouts: new MemoryRolloutStore(),
    threads: new MemoryThreadStore(),
    jobs: new MemoryJobStore(),
    clock: new FixedClock(NOW),
  };
}

type World = ReturnType<typeof makeWorld>;

/** Puts a session of one message into the store. */
async function upload(world: World, text: string, startAt = EARLIER, uploadedAt = NOW): Promise<void> {
  const bytes = codexRollout({ id: 't', startAt, cwd: `/work/${text}` })
    .user(text)
    .toBytes();
  await world.rollouts.put('u', 't', pieces(bytes), 'rollouts/u/t.jsonl', uploadedAt);
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const takeIn = (world: World, order: string | null, generateMemories = true) =>
  takeInRollout(world, { userKey: 'u', threadId: 't', order, settings: { generateMemories } });

describe('taking in an uploaded rollout', () => {
  it('enters it in the catalogue with its order, and makes its thread due by itself', async () => {
    const world = makeWorld();
    await upload(world, 'one');
    expect(await takeIn(world, '05')).toEqual({ kind: 'registered' });
    const thread = await world.threads.get('u', 't');
    expect(thread).toMatchObject({ cwd: '/work/one', memoryMode: 'enabled', rollout: { order: '05' } });
    const job = await world.jobs.get('u', KEY);
    expect(job).toMatchObject({ status: 'pending', wakeAt: NOW + LIMITS.extractionLeaseMs });
  });

  it('says what was met in it', async () => {
    const world = makeWorld();
    const bytes = codexRollout().user('hello').line('{broken').assistant('hi').toBytes();
    await world.rollouts.put('u', 't', pieces(bytes.subarray(0, bytes.length - 9)), 'rollouts/u/t.jsonl', NOW);
    await takeIn(world, '05');
    const thread = await world.threads.get('u', 't');
    expect(thread?.reading).toEqual({ broken: 1, oversized: 0, tornTail: true, redactions: {} });
  });

  it('says what was met in one of no known format', async () => {
    const world = makeWorld();
    const broken = new TextEncoder().encode('{"no":1}\n{broken\n');
    await world.rollouts.put('u', 't', pieces(broken), 'rollouts/u/t.jsonl', NOW);
    await takeIn(world, '05');
    expect((await world.threads.get('u', 't'))?.reading).toMatchObject({ broken: 1, tornTail: false });
  });

  it('follows the setting for new threads', async () => {
    const world = makeWorld();
    await upload(world, 'one');
    await takeIn(world, '05', false);
    expect((await world.threads.get('u', 't'))?.memoryMode).toBe('disabled');
  });

  it('enters nothing of a user who was erased while it was read', async () => {
    const world = makeWorld();
    await upload(world, 'one');
    const open = world.rollouts.open.bind(world.rollouts);
    world.rollouts.open = async (userKey, threadId) => {
      const content = await open(userKey, threadId);
      await world.rollouts.remove(userKey, threadId);
      return content;
    };
    expect(await takeIn(world, '05')).toEqual({ kind: 'gone' });
    expect(await world.threads.get('u', 't')).toBeUndefined();
    expect(await world.jobs.get('u', KEY)).toBeUndefined();
  });

  it('enters nothing anew where the thread itself was erased while a later upload was read', async () => {
    const world = makeWorld();
    await upload(world, 'one');
    await takeIn(world, '05');
    await world.jobs.clear('u');
    await upload(world, 'two');
    // The thread is gone when the change is made: what comes of it would be stored.
    world.threads.update = async (_userKey, _threadId, change) => change(undefined);
    expect(await takeIn(world, '06')).toEqual({ kind: 'gone' });
    expect(await world.jobs.get('u', KEY)).toBeUndefined();
  });

  it('takes the same upload five times, two of them at once, as one (C3)', async () => {
    const world = makeWorld();
    await upload(world, 'one');
    await Promise.all([takeIn(world, '05'), takeIn(world, '05')]);
    const [thread, job] = [await world.threads.get('u', 't'), await world.jobs.get('u', KEY)];
    for (let time = 0; time < 3; time++) {
      world.clock.advance(1_000);
      expect(await takeIn(world, '05')).toEqual({ kind: 'known' });
    }
    expect(await world.threads.get('u', 't')).toEqual(thread);
    expect(await world.jobs.get('u', KEY)).toEqual(job);
  });

  it('leaves a later upload alone when the event of an earlier one arrives late, at any length of its mark (C4)', async () => {
    const world = makeWorld();
    await upload(world, 'two');
    await takeIn(world, '0055AED7');
    await upload(world, 'one', EARLIER + 9_000_000);
    for (const late of ['0055AED6DCD90281E5', '0055AED6', '0055AED7']) {
      expect(await takeIn(world, late)).toEqual({ kind: 'known' });
    }
    expect(await world.threads.get('u', 't')).toMatchObject({ cwd: '/work/two', rollout: { order: '0055AED7' } });
  });

  it('takes a later upload whose mark is longer or shorter', async () => {
    const world = makeWorld();
    await upload(world, 'one');
    await takeIn(world, '0055AED6');
    await upload(world, 'two', EARLIER + 1_000);
    expect(await takeIn(world, '0055AED6DCD90281E5')).toEqual({ kind: 'registered' });
    await upload(world, 'three', EARLIER + 2_000);
    expect(await takeIn(world, '0056')).toEqual({ kind: 'registered' });
    expect(await world.threads.get('u', 't')).toMatchObject({ cwd: '/work/three', rollout: { order: '0056' } });
  });

  it.each([
    ['read before', 'one'],
    ['not read yet', 'other'],
  ])(
    'does not overwrite a later upload that is entered while an earlier one, %s, is looked at (C4)',
    async (_, text) => {
      const world = makeWorld();
      await upload(world, 'one');
      await takeIn(world, '01');
      await upload(world, text, EARLIER, NOW + 1);
      const look = world.rollouts.look.bind(world.rollouts);
      world.rollouts.look = async (userKey, threadId) => {
        const seen = await look(userKey, threadId);
        world.rollouts.look = look;
        await upload(world, 'later', EARLIER + 5);
        await takeIn(world, '03');
        return seen;
      };
      expect(await takeIn(world, '02')).toEqual({ kind: 'known' });
      expect(await world.threads.get('u', 't')).toMatchObject({ cwd: '/work/later', rollout: { order: '03' } });
    },
  );

  it('does not overwrite it either where uploads carry no order', async () => {
    const world = makeWorld();
    await upload(world, 'one');
    await takeIn(world, null);
    const look = world.rollouts.look.bind(world.rollouts);
    world.rollouts.look = async (userKey, threadId) => {
      const seen = await look(userKey, threadId);
      world.rollouts.look = look;
      await upload(world, 'later', EARLIER + 5);
      await takeIn(world, null);
      return seen;
    };
    expect(await takeIn(world, null)).toEqual({ kind: 'known' });
    expect((await world.threads.get('u', 't'))?.cwd).toBe('/work/later');
  });

  it('keeps the content of a later session when an older file is uploaded after it (D22)', async () => {
    const world = makeWorld();
    await upload(world, 'long', EARLIER + 60_000);
    await takeIn(world, '01');
    await upload(world, 'short', EARLIER);
    expect(await takeIn(world, '02')).toEqual({ kind: 'known' });
    expect((await world.threads.get('u', 't'))?.cwd).toBe('/work/long');
  });

  it('remembers the later mark of the same bytes, and does not read them again', async () => {
    const world = makeWorld();
    await upload(world, 'one');
    await takeIn(world, '01');
    world.rollouts.open = () => Promise.reject(new Error('read again'));
    expect(await takeIn(world, '02')).toEqual({ kind: 'known' });
    expect((await world.threads.get('u', 't'))?.rollout.order).toBe('02');
  });

  it('makes a thread due again when the same bytes are declared to be the end of the session', async () => {
    const world = makeWorld();
    await upload(world, 'one');
    await takeIn(world, '01');
    await world.jobs.wake('u', 't', null);
    world.rollouts.say('u', 't', { ended: true });
    expect(await takeIn(world, '02')).toEqual({ kind: 'registered' });
    expect(await world.threads.get('u', 't')).toMatchObject({ ended: true, cwd: '/work/one' });
    expect((await world.jobs.get('u', KEY))?.wakeAt).toBe(NOW + LIMITS.extractionLeaseMs);
  });

  it('enters a rollout that cannot be read by what its uploader says, for its extraction to end with the reason', async () => {
    const world = makeWorld();
    const cutArchive = new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0]);
    await world.rollouts.put('u', 't', pieces(cutArchive), 'rollouts/u/t.jsonl', NOW);
    world.rollouts.say('u', 't', { cwd: '/work/told', sourceUpdatedAt: NOW - 7 });
    expect(await takeIn(world, '01')).toEqual({ kind: 'registered' });
    expect(await world.threads.get('u', 't')).toMatchObject({ cwd: '/work/told', updatedAt: NOW - 7 });
  });

  it('passes an outage of the store on, so that the message comes again', async () => {
    const world = makeWorld();
    await upload(world, 'one');
    world.rollouts.open = () => Promise.reject(new TypeError('socket hang up'));
    await expect(takeIn(world, '01')).rejects.toThrow('socket hang up');
    expect(await world.threads.get('u', 't')).toBeUndefined();
  });

  it('says that there is nothing where the object is gone, and enters nothing', async () => {
    const world = makeWorld();
    expect(await takeIn(world, '01')).toEqual({ kind: 'gone' });
    expect(await world.threads.get('u', 't')).toBeUndefined();
    expect(await world.jobs.get('u', KEY)).toBeUndefined();
  });

  it('removes what is uploaded for a forgotten thread (A23)', async () => {
    const world = makeWorld();
    await world.threads.update('u', 't', () => sampleThread({ threadId: 't', forgottenAt: NOW - 1 }));
    await upload(world, 'again');
    expect(await takeIn(world, '01')).toEqual({ kind: 'forgotten' });
    expect(await world.rollouts.look('u', 't')).toBeUndefined();
  });

  it('removes it too when the thread is forgotten while its rollout is read (B29)', async () => {
    const world = makeWorld();
    await upload(world, 'one');
    const open = world.rollouts.open.bind(world.rollouts);
    world.rollouts.open = async (userKey, threadId) => {
      const content = await open(userKey, threadId);
      await world.threads.update('u', 't', () => sampleThread({ threadId: 't', forgottenAt: NOW, title: null }));
      return content;
    };
    expect(await takeIn(world, '01')).toEqual({ kind: 'forgotten' });
    expect(await world.rollouts.look('u', 't')).toBeUndefined();
    expect(await world.jobs.get('u', KEY)).toBeUndefined();
    expect((await world.threads.get('u', 't'))?.title).toBeNull();
  });

  it.each(['', '../t', 'a/b', '.', 'x'.repeat(129)])('refuses %j, which is no thread id', async (threadId) => {
    const request = { userKey: 'u', threadId, order: null, settings: { generateMemories: true } };
    await expect(takeInRollout(makeWorld(), request)).rejects.toMatchObject({ code: 'thread.invalid_id' });
  });
});
