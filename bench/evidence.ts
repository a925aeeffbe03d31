import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { writeLargeRollout } from './large-rollout.ts';
import { type Measurement, median } from './measurement.ts';

const ROUNDS = 3;
const MODES = ['empty', 'parse-all', 'evidence'] as const;
const answerShape = z.object({ ms: z.number(), peakMb: z.number() });

/**
 * Evidence out of one large rollout, next to reading, splitting and `JSON.parse`-ing every line of the same file. Each runs in
 * a process of its own, in turns, so that peak memory is its own and noise hits all alike.
 */
export async function benchEvidence(megabytes: number): Promise<readonly Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'stillroom-bench-'));
  try {
    const path = join(folder, 'large.jsonl');
    const bytes = await writeLargeRollout(path, megabytes * 1e6);
    const runs = { empty: [], 'parse-all': [], evidence: [] } as Record<
      (typeof MODES)[number],
      z.infer<typeof answerShape>[]
    >;
    for (let round = 0; round < ROUNDS; round++) for (const mode of MODES) runs[mode].push(measure(mode, path));
    const ms = (mode: (typeof MODES)[number]): number => median(runs[mode].map((run) => run.ms));
    const peak = (mode: (typeof MODES)[number]): number =>
      median(runs[mode].map((run) => run.peakMb)) - median(runs.empty.map((run) => run.peakMb));
    const size = bytes / 1e6;
    return [
      { name: 'evidence: time', value: ms('evidence'), unit: 'ms', remark: `${size.toFixed(0)} MB rollout` },
      { name: 'evidence: throughput', value: size / (ms('evidence') / 1000), unit: 'MB/s', remark: '' },
      {
        name: 'evidence: read + split + JSON.parse',
        value: ms('parse-all'),
        unit: 'ms',
        remark: 'same file, same run',
      },
      {
        name: 'evidence: time ratio',
        value: ms('evidence') / ms('parse-all'),
        unit: 'ratio',
        remark: 'evidence / parse-all',
      },
      { name: 'evidence: peak memory', value: peak('evidence'), unit: 'MB', remark: 'above an empty process' },
      {
        name: 'evidence: peak memory of parse-all',
        value: peak('parse-all'),
        unit: 'MB',
        remark: 'above an empty process',
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function measure(mode: string, path: string): z.infer<typeof answerShape> {
  const script = join(import.meta.dirname, 'evidence-process.ts');
  const answer: unknown = JSON.parse(execFileSync(process.execPath, [script, mode, path], { encoding: 'utf8' }));
  return answerShape.parse(answer);
}
