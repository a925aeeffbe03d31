import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import * as z from 'zod';
import type { Measurement } from './measurement.ts';

const INPUTS = 20_000;
/** So many a process: each starts with an empty heap, and what is measured is the inputs' and not the run's. */
const BATCH = 1_000;
const FIRST_SEED = 1;
const MAX_MS = 1_000;
const MAX_MB = 300;
const answerShape = z.object({
  slowest: z.object({ ms: z.number(), origin: z.string() }),
  ends: z.record(z.string(), z.number()),
  peakMb: z.number(),
});

/**
 * Twenty thousand damaged rollouts.
 * @throws Error when one of them crashes the reader, or takes too long, or too much memory
 */
export async function benchFuzz(): Promise<readonly Measurement[]> {
  const ends = new Map<string, number>();
  let slowest = { ms: 0, origin: '' };
  let peakMb = 0;
  for (let done = 0; done < INPUTS; done += BATCH) {
    const batch = runBatch(FIRST_SEED + done);
    for (const [end, count] of Object.entries(batch.ends)) ends.set(end, (ends.get(end) ?? 0) + count);
    if (batch.slowest.ms > slowest.ms) slowest = batch.slowest;
    peakMb = Math.max(peakMb, batch.peakMb);
  }
  if (slowest.ms > MAX_MS) throw new Error(`${Math.round(slowest.ms)} ms for ${slowest.origin}`);
  if (peakMb > MAX_MB) throw new Error(`${Math.round(peakMb)} MB at the peak`);
  const counts = [...ends].map(([end, count]) => `${count} ${end}`);
  return [
    { name: 'fuzz: inputs', value: INPUTS, unit: 'count', remark: counts.join(', ') },
    { name: 'fuzz: slowest input', value: slowest.ms, unit: 'ms', remark: `processor time; ${slowest.origin}` },
    { name: 'fuzz: peak memory', value: peakMb, unit: 'MB', remark: `of a whole process of ${BATCH} inputs` },
  ];
}

function runBatch(firstSeed: number): z.infer<typeof answerShape> {
  const words = ['--expose-gc', join(import.meta.dirname, 'fuzz-process.ts'), String(BATCH), String(firstSeed)];
  const answer: unknown = JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' }));
  return answerShape.parse(answer);
}
