import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { findSharedRollouts } from '../test/support/shared-rollouts.ts';
import { writeCorpusRollout } from './corpus-rollout.ts';
import { writeLargeRollout } from './large-rollout.ts';
import { type Measurement, median } from './measurement.ts';

const ROUNDS = 5;
/** A text cannot be longer. */
const MAX_WHOLE_BYTES = 500e6;
type Mode = 'empty' | 'evidence' | 'facts' | 'parse-stream' | 'parse-all';
const answerShape = z.object({ ms: z.number(), cpuMs: z.number(), peakMb: z.number() });
type Run = z.infer<typeof answerShape>;

/**
 * Evidence out of one large rollout, next to reading, splitting and `JSON.parse`-ing every line of the same file: the plain
 * way (the whole file as one text) and in chunks. Each runs in a process of its own, in turns, so that peak memory is its own
 * and noise hits all alike. The rollout is made of real ones where their folder is at hand, else of made-up turns.
 */
export async function benchEvidence(megabytes: number): Promise<readonly Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'stillroom-bench-'));
  try {
    const path = join(folder, 'large.jsonl');
    const corpus = findSharedRollouts();
    const bytes = await (corpus === undefined
      ? writeLargeRollout(path, megabytes * 1e6)
      : writeCorpusRollout(path, corpus, megabytes * 1e6));
    const modes: Mode[] = ['empty', 'parse-stream', 'evidence', 'facts'];
    if (bytes < MAX_WHOLE_BYTES) modes.push('parse-all');
    const runs = new Map<Mode, Run[]>(modes.map((mode) => [mode, []]));
    for (let round = 0; round < ROUNDS; round++) {
      for (const mode of modes) runs.get(mode)?.push(measure(mode, path));
    }
    const source = corpus === undefined ? 'made-up' : 'real';
    return report(runs, bytes / 1e6, `${(bytes / 1e6).toFixed(0)} MB of ${source} turns, median of ${ROUNDS}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(runs: ReadonlyMap<Mode, readonly Run[]>, size: number, remark: string): Measurement[] {
  const of = (mode: Mode, key: keyof Run): number => median((runs.get(mode) ?? []).map((run) => run[key]));
  const time = (mode: Mode): Measurement[] => [
    { name: `evidence: ${mode}`, value: of(mode, 'ms'), unit: 'ms', remark },
    { name: `evidence: ${mode}, processor`, value: of(mode, 'cpuMs'), unit: 'ms', remark: 'all threads' },
    {
      name: `evidence: ${mode}, peak memory`,
      value: of(mode, 'peakMb') - of('empty', 'peakMb'),
      unit: 'MB',
      remark: 'above an empty process',
    },
  ];
  const ratio = (mode: Mode): Measurement[] => [
    {
      name: `evidence: time ratio to ${mode}`,
      value: of('evidence', 'ms') / of(mode, 'ms'),
      unit: 'ratio',
      remark: '',
    },
    {
      name: `evidence: processor ratio to ${mode}`,
      value: of('evidence', 'cpuMs') / of(mode, 'cpuMs'),
      unit: 'ratio',
      remark: '',
    },
  ];
  const baselines: Mode[] = runs.has('parse-all') ? ['parse-all', 'parse-stream'] : ['parse-stream'];
  const throughput = size / (of('evidence', 'ms') / 1000);
  return [
    ...time('evidence'),
    { name: 'evidence: throughput', value: throughput, unit: 'MB/s', remark: '' },
    ...time('facts'),
    ...baselines.flatMap(time),
    ...baselines.flatMap(ratio),
  ];
}

function measure(mode: Mode, path: string): Run {
  const script = join(import.meta.dirname, 'evidence-process.ts');
  const answer: unknown = JSON.parse(execFileSync(process.execPath, [script, mode, path], { encoding: 'utf8' }));
  return answerShape.parse(answer);
}
