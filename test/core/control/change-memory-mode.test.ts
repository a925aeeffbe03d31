import { describe, expect, it } from 'vitest';
import { changeMemoryMode } from '../../../core/control/change-memory-mode.ts';
import type { MemoryMode } from '../../../core/thread/thread.ts';
import { HOUR_MS } from '../../../core/time.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { MemoryJobStore } from '../../doubles/memory-job-store.ts';
import { MemoryStageOneStore } from '../../doubles/memory-stage-one-store.ts';
import { MemoryThreadStore } from '../../doubles/memory-thread-store.ts';
import { StageOneTable } from '../../doubles/stage-one-table.ts';
import { NOW, sampleHead, sampleJob, sampleThread } from '../../support/sample-state.ts';

const CONSOLIDATION = { kind: 'consolidation' } as const;
const EXTRACTION = { kind: 'extraction', threadId: 't' } as const;

/** A thread `t` in a mode, with an output that is selected or not, after a consolidation that has just succeeded. */
async function world(memoryMode: MemoryMode, output: 'selected' | 'unselected' | 'none') {
  const table = new StageOneTable();
  const head = sampleHead({ threadId: 't', selectedSnapshot: output === 'selected' ? 100 : null });
  table.setRow('u', 't', { job: sampleJob({ status: 'done' }), head: output === 'none' ? null : head });
  const ports = {
    threads: new MemoryThreadStore(),
    jobs: new MemoryJobStore(table),
    outputs: new MemoryStageOneStore(table),
    clock: new FixedClock(NOW),
  };
  await ports.threads.update('u', 't', () => sampleThread({ threadId: 't', memoryMode }));
  await ports.jobs.claim('u', CONSOLIDATION, { token: 'c', now: NOW, leaseMs: 1 });
  await ports.jobs.complete('u', 'c', NOW, { kind: 'consolidation', completedWatermark: 0 });
  return ports;
}

describe('a change of the memory mode', () => {
  it.each<[string, MemoryMode, 'selected' | 'unselected' | 'none', MemoryMode, boolean, boolean]>([
    ['TC-124 pollute a selected thread', 'enabled', 'selected', 'polluted', true, true],
    ['TC-124 pollute it again', 'polluted', 'selected', 'polluted', false, true],
    ['TC-125 pollute an unselected thread', 'enabled', 'unselected', 'polluted', true, false],
    ['pollute a thread without an output', 'enabled', 'none', 'polluted', true, false],
    ['disable a selected thread', 'enabled', 'selected', 'disabled', true, true],
    ['enable a thread with an output', 'disabled', 'unselected', 'enabled', true, true],
    ['enable an enabled thread', 'enabled', 'unselected', 'enabled', false, false],
    ['enable a thread without an output', 'disabled', 'none', 'enabled', true, false],
  ])('%s', async (_case, before, output, mode, changed, due) => {
    const ports = await world(before, output);
    expect(await changeMemoryMode(ports, 'u', 't', mode)).toBe(changed);
    expect((await ports.threads.get('u', 't'))?.memoryMode).toBe(mode);
    expect((await ports.jobs.get('u', CONSOLIDATION))?.status).toBe(due ? 'pending' : 'done');
    const claim = await ports.jobs.claim('u', CONSOLIDATION, { token: 'd', now: NOW + 6 * HOUR_MS, leaseMs: 1 });
    expect(claim.kind).toBe('claimed');
    expect(await ports.outputs.heads('u')).toHaveLength(output === 'none' ? 0 : 1);
  });

  it('has a thread that is enabled again looked at at once, with a new upload or without', async () => {
    const ports = await world('disabled', 'none');
    await changeMemoryMode(ports, 'u', 't', 'enabled');
    expect((await ports.jobs.get('u', EXTRACTION))?.wakeAt).toBe(NOW);
  });

  it.each<[MemoryMode, MemoryMode]>([
    ['enabled', 'enabled'],
    ['enabled', 'disabled'],
    ['disabled', 'polluted'],
  ])('wakes no thread that goes from %s to %s', async (before, mode) => {
    const ports = await world(before, 'none');
    await changeMemoryMode(ports, 'u', 't', mode);
    expect((await ports.jobs.get('u', EXTRACTION))?.wakeAt).toBeNull();
  });

  it('says false for an unknown thread and changes nothing', async () => {
    const ports = await world('enabled', 'selected');
    expect(await changeMemoryMode(ports, 'u', 'x', 'polluted')).toBe(false);
    expect(await changeMemoryMode(ports, 'u1', 't', 'polluted')).toBe(false);
    expect((await ports.jobs.get('u', CONSOLIDATION))?.status).toBe('done');
    expect(await changeMemoryMode(ports, 'u', 'x', 'enabled')).toBe(false);
    expect(await ports.jobs.get('u', { kind: 'extraction', threadId: 'x' })).toBeUndefined();
  });
});
