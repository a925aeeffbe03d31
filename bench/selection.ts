import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../adapters/sqlite/database.ts';
import { SqliteJobStore } from '../adapters/sqlite/job-store.ts';
import { SqliteStageOneStore } from '../adapters/sqlite/stage-one-store.ts';
import { SqliteThreadStore } from '../adapters/sqlite/thread-store.ts';
import { selectRanked } from '../core/consolidation/load-selection.ts';
import type { StageOneHead } from '../core/extraction/stage-one-output.ts';
import type { Thread } from '../core/thread/thread.ts';
import { DAY_MS } from '../core/time.ts';
import { type Measurement, median, timeOf } from './measurement.ts';

const USER = 'local';
const SIZES = [10_000, 100_000] as const;
const WANTED = 256;
const ROUNDS = 9;
const NOW = Date.UTC(2026, 10, 1);

/**
 * Selecting 256 of 10,000 and of 100,000 outputs from SQLite: heads and threads are read, ranked in memory, then only the chosen
 * texts.
 */
export async function benchSelection(): Promise<readonly Measurement[]> {
  const found: Measurement[] = [];
  for (const outputs of SIZES) found.push(...(await measure(outputs)));
  return found;
}

async function measure(outputs: number): Promise<readonly Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'stillroom-bench-'));
  const database = openDatabase(join(folder, 'stillroom.db'));
  try {
    const stores = {
      jobs: new SqliteJobStore(database),
      stageOne: new SqliteStageOneStore(database),
      threads: new SqliteThreadStore(database),
    };
    await fill(stores, outputs);
    let reads = 0;
    const ranked: number[] = [];
    const whole: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      let chosen: readonly StageOneHead[] = [];
      const rankedMs = await timeOf(async () => {
        const found = await selectRanked({ outputs: stores.stageOne, threads: stores.threads }, USER, {
          limit: WANTED,
          maxUnusedDays: 30,
          now: NOW,
        });
        chosen = found.selected;
        reads = found.threads.size;
      });
      const bodiesMs = await timeOf(async () => {
        const bodies = await stores.stageOne.bodies(USER, chosen);
        if (bodies.size !== WANTED) throw new Error(`${bodies.size} texts instead of ${WANTED}`);
      });
      ranked.push(rankedMs);
      whole.push(rankedMs + bodiesMs);
    }
    const remark = `${WANTED} of ${outputs} outputs`;
    const memory = process.resourceUsage().maxRSS / 1_000;
    return [
      { name: `selection ${outputs}: read heads and rank`, value: median(ranked), unit: 'ms', remark },
      { name: `selection ${outputs}: with the chosen texts`, value: median(whole), unit: 'ms', remark },
      {
        name: `selection ${outputs}: selectable threads read`,
        value: reads,
        unit: 'count',
        remark: 'besides all heads',
      },
      { name: `selection ${outputs}: texts read`, value: WANTED, unit: 'count', remark: 'only the chosen ones' },
      { name: `selection ${outputs}: peak memory`, value: memory, unit: 'MB', remark: 'of this process so far' },
    ];
  } finally {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(
  stores: {
    jobs: SqliteJobStore;
    stageOne: SqliteStageOneStore;
    threads: SqliteThreadStore;
  },
  outputs: number,
): Promise<void> {
  for (let at = 0; at < outputs; at++) {
    const threadId = `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`;
    const sourceUpdatedAt = NOW - (at % 40) * DAY_MS - at;
    const ref = { threadId, sourceUpdatedAt };
    await stores.threads.update(USER, threadId, () => threadOf(threadId, sourceUpdatedAt));
    const token = `token-${at}`;
    const key = { kind: 'extraction', threadId } as const;
    await stores.jobs.claim(USER, key, { token, now: NOW, leaseMs: 1000, watermark: sourceUpdatedAt });
    await stores.stageOne.putBody(USER, ref, {
      rawMemory: `raw ${at}`.repeat(40),
      rolloutSummary: `summary ${at}`.repeat(40),
    });
    await stores.jobs.complete(USER, token, NOW, {
      kind: 'extraction',
      threadId,
      outcome: { kind: 'extracted' },
      output: { ...ref, generatedAt: NOW, slug: null, bytes: 600, model: 'bench', promptVersion: '1' },
    });
    if (at % 3 === 0) await stores.stageOne.recordUsage(USER, [threadId], NOW - (at % 20) * DAY_MS);
  }
}

function threadOf(threadId: string, updatedAt: number): Thread {
  return {
    threadId,
    memoryMode: 'enabled',
    source: 'cli',
    subagent: false,
    ephemeral: false,
    parentThreadId: null,
    agentKind: 'codex',
    cwd: '/work/bench',
    repository: null,
    project: '/work/bench',
    gitBranch: null,
    title: null,
    createdAt: updatedAt,
    updatedAt,
    ended: true,
    forgottenAt: null,
    requestedAt: null,
    reading: null,
    rollout: { sha256: threadId, bytes: 1, uploadedAt: updatedAt, path: `${threadId}.jsonl`, order: null },
  };
}
