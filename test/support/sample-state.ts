import type { StageOneHead } from '../../core/extraction/stage-one-output.ts';
import type { Job } from '../../core/job/job.ts';
import type { Thread } from '../../core/thread/thread.ts';

export const NOW = 1_760_000_000_000;

const NO_JOB: Job = {
  status: 'pending',
  token: null,
  startedAt: null,
  finishedAt: null,
  leaseUntil: null,
  retryAt: null,
  retryRemaining: 3,
  attempts: 0,
  lastError: null,
  inputWatermark: null,
  successWatermark: null,
  outcome: null,
  wakeAt: null,
};

/** A job to which nothing happened but what is given. */
export function sampleJob(given: Partial<Job> = {}): Job {
  return { ...NO_JOB, ...given };
}

/** An ordinary enabled thread, uploaded a minute before `NOW`. */
export function sampleThread(given: Partial<Thread> = {}): Thread {
  return {
    threadId: 'thread-1',
    memoryMode: 'enabled',
    source: 'cli',
    subagent: false,
    ephemeral: false,
    parentThreadId: null,
    agentKind: 'codex',
    cwd: '/work/app',
    repository: null,
    project: '/work/app',
    gitBranch: null,
    title: null,
    createdAt: NOW - 7_200_000,
    updatedAt: NOW - 3_600_000,
    ended: true,
    forgottenAt: null,
    requestedAt: null,
    rollout: { sha256: '0'.repeat(64), bytes: 1_000, uploadedAt: NOW - 60_000, path: 'rollout.jsonl', order: null },
    reading: null,
    ...given,
  };
}

/** The head of an output made at `NOW`. */
export function sampleHead(given: Partial<StageOneHead> = {}): StageOneHead {
  return {
    threadId: 'thread-1',
    sourceUpdatedAt: NOW - 3_600_000,
    generatedAt: NOW,
    slug: null,
    usageCount: null,
    lastUsage: null,
    selectedSnapshot: null,
    bytes: 100,
    model: 'model',
    promptVersion: '1',
    ...given,
  };
}
