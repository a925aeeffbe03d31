import { describe, expect, it } from 'vitest';
import { forgetThread } from '../../../core/control/forget-thread.ts';
import { resetMemory } from '../../../core/control/reset-memory.ts';
import { registerThread } from '../../../core/thread/register-thread.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { MemoryHeadStore } from '../../doubles/memory-head-store.ts';
import { MemoryJobStore } from '../../doubles/memory-job-store.ts';
import { MemoryMemoryStore } from '../../doubles/memory-memory-store.ts';
import { MemoryReplayStore } from '../../doubles/memory-replay-store.ts';
import { MemoryStageOneStore } from '../../doubles/memory-stage-one-store.ts';
import { MemoryThreadStore } from '../../doubles/memory-thread-store.ts';
import { NumberedTokens } from '../../doubles/numbered-tokens.ts';
import { StageOneTable } from '../../doubles/stage-one-table.ts';
import { NOW, sampleHead, sampleThread } from '../../support/sample-state.ts';

const BODY = { rawMemory: 'raw', rolloutSummary: 'summary' };
const CONSOLIDATION = { kind: 'consolidation' } as const;

/** One user `u` with outputs of the given threads at 100. */
async function world(...threadIds: readonly string[]) {
  const table = new StageOneTable();
  const removed: string[] = [];
  const ports = {
    threads: new MemoryThreadStore(),
    jobs: new MemoryJobStore(table),
    outputs: new MemoryStageOneStore(table),
    heads: new MemoryHeadStore(),
    clock: new FixedClock(NOW),
    tokens: new NumberedTokens(),
    replays: new MemoryReplayStore(),
    memories: new MemoryMemoryStore(),
    rollouts: { remove: async (_user: string, threadId: string) => removed.push(threadId) > 0 },
  };
  for (const threadId of threadIds) {
    await ports.threads.update('u', threadId, () =>
      sampleThread({
        threadId,
        title: 'a title',
        cwd: '/private',
        repository: 'r',
        gitBranch: 'b',
        requestedAt: 5,
        reading: { broken: 1, oversized: 0, tornTail: false, redactions: {} },
      }),
    );
    await extract(ports, threadId, 100);
  }
  return { ...ports, removed };
}

type World = Awaited<ReturnType<typeof world>>;

async function extract(ports: Pick<World, 'jobs' | 'outputs'>, threadId: string, watermark: number): Promise<boolean> {
  const key = { kind: 'extraction', threadId } as const;
  await ports.jobs.claim('u', key, { token: 'k', now: NOW, leaseMs: 1, watermark });
  await ports.outputs.putBody('u', { threadId, sourceUpdatedAt: watermark }, BODY);
  return complete(ports, threadId, watermark);
}

function complete(ports: Pick<World, 'jobs'>, threadId: string, sourceUpdatedAt: number): Promise<boolean> {
  const output = sampleHead({ threadId, sourceUpdatedAt });
  return ports.jobs.complete('u', 'k', NOW, { kind: 'extraction', threadId, outcome: { kind: 'extracted' }, output });
}

describe('forgetting a thread', () => {
  it('removes output, texts, job and rollout, and leaves a blank tombstone (D-01, DV-18)', async () => {
    const ports = await world('t', 'other');
    expect(await forgetThread(ports, 'u', 't')).toEqual({
      threadId: 't',
      forgottenAt: NOW,
      consolidationDue: false,
      version: null,
    });
    expect(await ports.outputs.head('u', 't')).toBeUndefined();
    expect((await ports.outputs.bodies('u', [{ threadId: 't', sourceUpdatedAt: 100 }])).size).toBe(0);
    expect(await ports.jobs.get('u', { kind: 'extraction', threadId: 't' })).toBeUndefined();
    expect(ports.removed).toEqual(['t']);
    const tombstone = await ports.threads.get('u', 't');
    expect(tombstone).toMatchObject({
      forgottenAt: NOW,
      title: null,
      cwd: null,
      repository: null,
      gitBranch: null,
      reading: null,
    });
    expect(tombstone).toMatchObject({ project: 'unknown', requestedAt: null, rollout: { path: '' } });
    expect((await ports.outputs.bodies('u', [{ threadId: 'other', sourceUpdatedAt: 100 }])).size).toBe(1);
  });

  it('makes a consolidation due when the output was selected, with now as the watermark at least (D-01)', async () => {
    const ports = await world('t');
    await ports.outputs.markSelected('u', [{ threadId: 't', sourceUpdatedAt: 100 }]);
    expect(await forgetThread(ports, 'u', 't')).toMatchObject({ consolidationDue: true });
    expect(await ports.jobs.get('u', CONSOLIDATION)).toMatchObject({ status: 'pending', inputWatermark: NOW });
  });

  it('leaves the consolidation alone when the output was not selected (D-01)', async () => {
    const ports = await world('t');
    await forgetThread(ports, 'u', 't');
    expect(await ports.jobs.get('u', CONSOLIDATION)).toBeUndefined();
  });

  it('makes the next consolidation due when one runs, which may have read the output (B29)', async () => {
    const ports = await world('t');
    await ports.jobs.claim('u', CONSOLIDATION, { token: 'c', now: NOW, leaseMs: 9 });
    await ports.heads.setFence('u', 'c');
    expect(await forgetThread(ports, 'u', 't')).toMatchObject({ consolidationDue: true });
    expect((await ports.heads.read('u')).fence).not.toBe('c');
    await ports.jobs.complete('u', 'c', NOW, { kind: 'consolidation', completedWatermark: NOW + 999 });
    const job = await ports.jobs.get('u', CONSOLIDATION);
    expect(job?.inputWatermark).toBeGreaterThan(job?.successWatermark ?? 0);
  });

  it('notices an output that is selected between the look and the removal', async () => {
    const ports = await world('t');
    const get = ports.jobs.get.bind(ports.jobs);
    ports.jobs.get = async (user, key) => {
      const job = await get(user, key);
      await ports.outputs.markSelected('u', [{ threadId: 't', sourceUpdatedAt: 100 }]);
      return job;
    };
    expect(await forgetThread(ports, 'u', 't')).toMatchObject({ consolidationDue: true });
    expect(await get('u', CONSOLIDATION)).toMatchObject({ status: 'pending' });
  });

  it('makes an extraction in flight lose, and its texts go with the next forgetting', async () => {
    const ports = await world('t');
    const key = { kind: 'extraction', threadId: 't' } as const;
    await ports.jobs.claim('u', key, { token: 'k', now: NOW, leaseMs: 9, watermark: 101 });
    await forgetThread(ports, 'u', 't');
    await ports.outputs.putBody('u', { threadId: 't', sourceUpdatedAt: 101 }, BODY);
    expect(await complete(ports, 't', 101)).toBe(false);
    await forgetThread(ports, 'u', 't');
    expect((await ports.outputs.bodies('u', [{ threadId: 't', sourceUpdatedAt: 101 }])).size).toBe(0);
  });

  it('is the same when it is repeated, and keeps its time', async () => {
    const ports = await world('t');
    await forgetThread(ports, 'u', 't');
    const tombstone = await ports.threads.get('u', 't');
    ports.clock.advance(1_000);
    expect(await forgetThread(ports, 'u', 't')).toMatchObject({ forgottenAt: NOW });
    expect(await ports.threads.get('u', 't')).toEqual(tombstone);
  });

  it('holds after the same rollout is uploaded again (A23)', async () => {
    const ports = await world('t');
    await forgetThread(ports, 'u', 't');
    const upload = { sha256: 'new', bytes: 1, uploadedAt: NOW, path: 'again.jsonl', order: null };
    const again = await ports.threads.update('u', 't', (stored) =>
      registerThread(stored, { ...sighting(), rollout: upload }),
    );
    expect(again).toMatchObject({ forgottenAt: NOW, title: null });
  });

  it('finishes what a call that died left undone', async () => {
    const ports = await world('t');
    await ports.outputs.markSelected('u', [{ threadId: 't', sourceUpdatedAt: 100 }]);
    const removeExtraction = ports.jobs.removeExtraction.bind(ports.jobs);
    ports.jobs.removeExtraction = () => Promise.reject(new Error('killed'));
    await expect(forgetThread(ports, 'u', 't')).rejects.toThrow('killed');
    expect(await ports.jobs.get('u', CONSOLIDATION)).toMatchObject({ status: 'pending' });
    ports.jobs.removeExtraction = removeExtraction;
    await forgetThread(ports, 'u', 't');
    expect(await ports.outputs.heads('u')).toEqual([]);
    expect(ports.removed).toEqual(['t']);
  });

  it("refuses an unknown thread, another user's, and what is no id", async () => {
    const ports = await world('t');
    await expect(forgetThread(ports, 'u', 'x')).rejects.toMatchObject({ code: 'thread.not_found' });
    await expect(forgetThread(ports, 'u1', 't')).rejects.toMatchObject({ code: 'thread.not_found' });
    await expect(forgetThread(ports, 'u', '../t')).rejects.toMatchObject({ code: 'thread.invalid_id' });
    expect(await ports.outputs.heads('u')).toHaveLength(1);
  });
});

describe('resetting a memory', () => {
  it('TC-127 leaves no output, job or text, keeps modes and tombstones, and makes threads claimable again', async () => {
    const ports = await world('t', 'mute', 'gone');
    await ports.threads.setMemoryMode('u', 'mute', 'disabled');
    await forgetThread(ports, 'u', 'gone');
    await ports.jobs.enqueueConsolidation('u', 100);
    expect(await resetMemory(ports, 'u')).toEqual({ epoch: 1, outputs: 2, bodies: 2 });
    expect(await ports.outputs.heads('u')).toEqual([]);
    expect(await ports.jobs.listExtractions('u')).toEqual(new Map());
    expect(await ports.jobs.get('u', CONSOLIDATION)).toBeUndefined();
    const threads = await ports.threads.list('u', { limit: 9 });
    expect(threads.map((thread) => [thread.threadId, thread.memoryMode, thread.forgottenAt])).toEqual([
      ['gone', 'enabled', NOW],
      ['mute', 'disabled', null],
      ['t', 'enabled', null],
    ]);
    expect(await extract(ports, 't', 100)).toBe(true);
  });

  it('keeps a run in flight from publishing or committing (A24)', async () => {
    const ports = await world('t');
    await ports.jobs.claim('u', CONSOLIDATION, { token: 'c', now: NOW, leaseMs: 9 });
    const { epoch } = await ports.heads.setFence('u', 'c');
    const key = { kind: 'extraction', threadId: 't' } as const;
    await ports.jobs.claim('u', key, { token: 'k', now: NOW, leaseMs: 9, watermark: 101 });
    await resetMemory(ports, 'u');
    const to = { version: 1, publishedAt: NOW, summary: 's', pendingNotes: [], places: [] };
    expect(await ports.heads.switchTo('u', { from: 0, epoch, fence: 'c', to })).toBe('lost');
    expect(await ports.jobs.complete('u', 'c', NOW, { kind: 'consolidation', completedWatermark: 1 })).toBe(false);
    expect(await complete(ports, 't', 101)).toBe(false);
  });
});

function sighting() {
  return {
    threadId: 't',
    reading: null,
    facts: {
      agentKind: 'codex',
      formatVersion: null,
      threadId: 't',
      source: 'cli',
      subagent: false,
      ephemeral: false,
      parentThreadId: null,
      memoryMode: null,
      cwd: '/private',
      repository: null,
      gitBranch: null,
      title: 'a title',
      firstAt: null,
      lastAt: NOW,
      humanMessages: 1,
      assistantMessages: 1,
      toolCalls: 0,
      conversationBytes: 1,
      externalContext: { webSearch: false, toolSearch: false, mcpServers: [] },
    },
    hints: { source: null, cwd: null, repository: null, gitBranch: null, sourceUpdatedAt: null, ended: null },
    now: NOW,
    requestedAt: NOW,
    generateMemories: true,
  };
}
