import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import * as z from 'zod';
import type { Measurement } from './measurement.ts';

const INPUTS = 20_000;
const FIRST_SEED = 1;
const MAX_MS = 1_000;
const MAX_MB = 300;
const answerShape = z.object({
  slowest: z.object({ ms: z.number(), origin: z.string() }),
  ends: z.record(z.string(), z.number()),
  peakMb: z.number(),
});

/**
 * Twenty thousand damaged rollouts, in one process.
 * @throws Error when one of them crashes the reader, or takes too long, or too much memory
 */
export async function benchFuzz(): Promise<readonly Measurement[]> {
  const script = join(import.meta.dirname, 'fuzz-process.ts');
  const words = [script, String(INPUTS), String(FIRST_SEED)];
  const { slowest, ends, peakMb } = answerShape.parse(
    JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' })),
  );
  if (slowest.ms > MAX_MS) throw new Error(`${Math.round(slowest.ms)} ms for ${slowest.origin}`);
  if (peakMb > MAX_MB) throw new Error(`${Math.round(peakMb)} MB at the peak`);
  const counts = Object.entries(ends).map(([end, count]) => `${count} ${end}`);
  return [
    { name: 'fuzz: inputs', value: INPUTS, unit: 'count', remark: counts.join(', ') },
    { name: 'fuzz: slowest input', value: slowest.ms, unit: 'ms', remark: slowest.origin },
    { name: 'fuzz: peak memory', value: peakMb, unit: 'MB', remark: 'of the whole process, corpus included' },
  ];
}
