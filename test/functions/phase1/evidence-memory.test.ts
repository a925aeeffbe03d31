import { describe, expect, it } from 'vitest';
import { NEW_JOB } from '../../../core/job/new-job.ts';
import { MINUTE_MS } from '../../../core/time.ts';
import { EvidenceMemory } from '../../../functions/phase1/evidence-memory.ts';
import { NOW } from '../../core/extraction/sample-session.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { MemoryJobStore } from '../../doubles/memory-job-store.ts';

const LARGE = 1_000_000;

async function open(): Promise<{
  memory: EvidenceMemory;
  clock: FixedClock;
  lists: string[];
  note: () => Promise<void>;
}> {
  const jobs = new MemoryJobStore();
  const clock = new FixedClock(NOW);
  const lists: string[] = [];
  const listing = {
    listExtractions: async (userKey: string) => {
      lists.push(userKey);
      return jobs.listExtractions(userKey);
    },
  };
  const outcome = { kind: 'extracted', detail: 'evidence_tokens=8000 model=m' } as const;
  const note = async () => jobs.table.setRow('u', 't', { job: { ...NEW_JOB, finishedAt: NOW, outcome }, head: null });
  return { memory: new EvidenceMemory(listing, clock), clock, lists, note };
}

describe('EvidenceMemory', () => {
  it('finds what the outcomes of a user say of a model, and of no other', async () => {
    const { memory, note } = await open();
    await note();
    expect(await memory.recall('u', 'm', LARGE)).toBe(8_000);
    expect(await memory.recall('u', 'n', LARGE)).toBeUndefined();
    expect(await memory.recall('v', 'm', LARGE)).toBeUndefined();
  });

  it('does not look for a small rollout', async () => {
    const { memory, lists } = await open();
    await memory.recall('u', 'm', 65_535);
    expect(lists).toEqual([]);
  });

  it('looks once in a quarter of an hour', async () => {
    const { memory, clock, lists } = await open();
    for (let at = 0; at < 5; at++) await memory.recall('u', 'm', LARGE);
    expect(lists).toHaveLength(1);
    clock.advance(15 * MINUTE_MS);
    await memory.recall('u', 'm', LARGE);
    expect(lists).toHaveLength(2);
  });

  it('looks again after an extraction that left a note', async () => {
    const { memory, note } = await open();
    expect(await memory.recall('u', 'm', LARGE)).toBeUndefined();
    await note();
    memory.forget('u', 'm');
    expect(await memory.recall('u', 'm', LARGE)).toBe(8_000);
  });

  it('keeps the last 500', async () => {
    const { memory, lists } = await open();
    for (let at = 0; at <= 500; at++) await memory.recall(`u${at}`, 'm', LARGE);
    lists.length = 0;
    await memory.recall('u500', 'm', LARGE);
    await memory.recall('u1', 'm', LARGE);
    expect(lists).toEqual([]);
    await memory.recall('u0', 'm', LARGE);
    expect(lists).toEqual(['u0']);
  });
});
