import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ConsolidationResult } from '../core/consolidation/consolidation-ports.ts';
import type { StageOneBody } from '../core/extraction/stage-one-output.ts';
import type { Thread } from '../core/thread/thread.ts';
import { HOUR_MS } from '../core/time.ts';
import { consolidateHome } from '../local/consolidate.ts';
import { readEnv } from '../local/env.ts';
import { type Home, openHome } from '../local/home.ts';
import { type ModelSetup, startModel } from '../local/model.ts';
import { run } from '../local/run.ts';
import { findSharedRollouts } from '../test/support/shared-rollouts.ts';
import { type Measurement, timeOf } from './measurement.ts';

const WANTED = 256;
const SAMPLES = resolve(import.meta.dirname, '../examples/rollouts');

interface Learnt {
  readonly thread: Thread;
  readonly slug: string | null;
  readonly body: StageOneBody;
}

/**
 * The first consolidation of 256 outputs by the offline stand-in, over HTTP and SQLite as on a person's machine, and one more
 * output after it. The outputs are those of the real rollouts beside the repository, repeated as sessions of their own until
 * there are enough.
 */
export async function benchConsolidation(): Promise<readonly Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'stillroom-bench-'));
  const model = await startModel('offline', readEnv());
  try {
    const learnt = await learn(join(folder, 'learnt'), model);
    const home = openHome(join(folder, 'home'), { create: true });
    try {
      for (let at = 0; at < WANTED; at++) await addOutput(home, learnt, at);
      const first = await consolidated(home, model);
      await addOutput(home, learnt, WANTED);
      const second = await consolidated(home, model);
      return [
        {
          name: 'consolidation: 256 outputs',
          value: first.ms,
          unit: 'ms',
          remark: `${learnt.length} real ones, repeated`,
        },
        { name: 'consolidation: turns', value: first.turns, unit: 'count', remark: 'at most 120' },
        { name: 'consolidation: MEMORY.md', value: first.memoryBytes / 1_048_576, unit: 'MB', remark: 'of 0.25' },
        { name: 'consolidation: one more output', value: second.ms, unit: 'ms', remark: second.way },
        { name: 'consolidation: its turns', value: second.turns, unit: 'count', remark: '' },
      ];
    } finally {
      home.close();
    }
  } finally {
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What extraction makes of the real rollouts. */
async function learn(path: string, model: ModelSetup): Promise<readonly Learnt[]> {
  const home = openHome(path, { create: true });
  try {
    const request = { paths: [findSharedRollouts() ?? SAMPLES], sinceMs: null, max: 1_000, includeActive: true };
    await run(home, model, request, { env: readEnv(), observer: { progress: () => {} } });
    const heads = await home.outputs.heads(home.userKey);
    const bodies = await home.outputs.bodies(home.userKey, heads);
    const threads = await home.threads.getMany(
      home.userKey,
      heads.map((head) => head.threadId),
    );
    return heads.flatMap(({ threadId, slug }) => {
      const [thread, body] = [threads.get(threadId), bodies.get(threadId)];
      return thread === undefined || body === undefined ? [] : [{ thread, slug, body }];
    });
  } finally {
    home.close();
  }
}

async function addOutput(home: Home, learnt: readonly Learnt[], at: number): Promise<void> {
  const source = learnt[at % learnt.length];
  if (source === undefined) throw new Error('nothing was learnt from the rollouts');
  const threadId = `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`;
  const sourceUpdatedAt = home.clock.now() - (WANTED + 1 - at) * HOUR_MS;
  const { userKey } = home;
  await home.threads.update(userKey, threadId, () => ({ ...source.thread, threadId, updatedAt: sourceUpdatedAt }));
  const token = `token-${at}`;
  const key = { kind: 'extraction', threadId } as const;
  const now = home.clock.now();
  await home.jobs.claim(userKey, key, { token, now, leaseMs: HOUR_MS, watermark: sourceUpdatedAt });
  await home.outputs.putBody(userKey, { threadId, sourceUpdatedAt }, source.body);
  await home.jobs.complete(userKey, token, now, {
    kind: 'extraction',
    threadId,
    outcome: { kind: 'extracted' },
    output: {
      threadId,
      sourceUpdatedAt,
      generatedAt: now,
      slug: source.slug,
      bytes: source.body.rawMemory.length + source.body.rolloutSummary.length,
      model: 'bench',
      promptVersion: '1',
    },
  });
}

async function consolidated(home: Home, model: ModelSetup) {
  let result: ConsolidationResult | undefined;
  const ms = await timeOf(async () => {
    result = await consolidateHome(home, model, true);
  });
  if (result?.kind !== 'published') throw new Error(`the consolidation ended as ${JSON.stringify(result)}`);
  const manifest = await home.memories.manifest(home.userKey, result.version);
  return { ms, turns: result.turns, way: result.way, memoryBytes: manifest?.files['MEMORY.md']?.bytes ?? 0 };
}
