import { describe, expect, it } from 'vitest';
import { pruneOutputs } from '../../../core/consolidation/prune-outputs.ts';
import type { StageOneHead } from '../../../core/extraction/stage-one-output.ts';
import { DAY_MS } from '../../../core/time.ts';
import { MemoryStageOneStore } from '../../doubles/memory-stage-one-store.ts';
import { MemoryThreadStore } from '../../doubles/memory-thread-store.ts';
import { NOW, sampleHead, sampleJob, sampleThread } from '../../support/sample-state.ts';

const RULES = { now: NOW, maxUnusedDays: 30 };

async function storesWith(heads: readonly StageOneHead[]) {
  const ports = { outputs: new MemoryStageOneStore(), threads: new MemoryThreadStore() };
  for (const head of heads) {
    ports.outputs.table.setRow('u', head.threadId, { job: sampleJob({ status: 'done' }), head });
    await ports.threads.update('u', head.threadId, () => sampleThread({ threadId: head.threadId }));
  }
  return ports;
}

async function remaining(ports: Awaited<ReturnType<typeof storesWith>>): Promise<string[]> {
  return (await ports.outputs.heads('u')).map((head) => head.threadId);
}

describe('pruneOutputs', () => {
  it('forgets what nobody wanted within the window and keeps what a version rests on', async () => {
    const old = NOW - 60 * DAY_MS;
    const ports = await storesWith([
      sampleHead({ threadId: 'fresh', sourceUpdatedAt: NOW - DAY_MS }),
      sampleHead({ threadId: 'selected', sourceUpdatedAt: old, selectedSnapshot: old }),
      sampleHead({ threadId: 'stale', sourceUpdatedAt: old }),
      sampleHead({ threadId: 'used', sourceUpdatedAt: old, usageCount: 1, lastUsage: NOW - DAY_MS }),
    ]);
    expect(await pruneOutputs(ports, 'u', RULES)).toBe(1);
    expect(await remaining(ports)).toEqual(['fresh', 'selected', 'used']);
  });

  it('keeps the job of what it forgot, so that it is not extracted again', async () => {
    const ports = await storesWith([sampleHead({ threadId: 'stale', sourceUpdatedAt: NOW - 60 * DAY_MS })]);
    await pruneOutputs(ports, 'u', RULES);
    expect(ports.outputs.table.row('u', 'stale')?.job.status).toBe('done');
  });

  it('leaves another user alone', async () => {
    const ports = await storesWith([sampleHead({ threadId: 'stale', sourceUpdatedAt: NOW - 60 * DAY_MS })]);
    expect(await pruneOutputs(ports, 'v', RULES)).toBe(0);
    expect(await remaining(ports)).toEqual(['stale']);
  });
});
