import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import * as z from 'zod';
import type { Measurement } from './measurement.ts';

const SIZES = [256, 4_096] as const;
/** What an object store takes for one call. */
const LATENCY_MS = 30;

const step = z.object({ ms: z.number(), writes: z.number(), manifests: z.number(), reads: z.number() });
const answer = z.object({
  build: step,
  small: step,
  tenth: step,
  diff: step,
  rewritten: step,
  diffAll: step,
  restore: step,
  emptyMb: z.number(),
  peakMb: z.number(),
});

/**
 * Publishing, comparing and restoring memories of 256 and of 4,096 rollout summaries, each in a process of its own: on the files of
 * this machine, and with a store that takes 30 ms for each call.
 */
export async function benchPublish(): Promise<readonly Measurement[]> {
  return SIZES.flatMap((size) => [...measure(size, 0), ...measure(size, LATENCY_MS)]);
}

function measure(size: number, latencyMs: number): readonly Measurement[] {
  const script = join(import.meta.dirname, 'publish-process.ts');
  const output = execFileSync(process.execPath, [script, String(size), String(latencyMs)], { encoding: 'utf8' });
  const found = answer.parse(JSON.parse(output));
  const name = (what: string): string => `publish ${size}${latencyMs > 0 ? `, ${latencyMs} ms a call` : ''}: ${what}`;
  const timed = (what: string, { ms, writes, manifests, reads }: z.infer<typeof step>): Measurement => ({
    name: name(what),
    value: ms,
    unit: 'ms',
    remark: `${writes} files and ${manifests} manifests written, ${reads} files read`,
  });
  return [
    timed('first version', found.build),
    timed('two files changed', found.small),
    timed('one summary in ten changed', found.tenth),
    timed('diff of that', found.diff),
    timed('every file changed', found.rewritten),
    timed('diff of that, cut', found.diffAll),
    timed('restore of the first', found.restore),
    { name: name('peak memory'), value: found.peakMb, unit: 'MB', remark: `${found.emptyMb.toFixed(0)} MB before` },
  ];
}
