/** The process of `bench/fuzz.ts`: reads mutated rollouts and prints the slowest one and the peak memory. */
import { readRollout } from '../core/rollout/read-rollout.ts';
import { mutateRollout, readRollouts } from '../test/support/mutated-rollouts.ts';
import { sharedRolloutsFolder } from '../test/support/shared-rollouts.ts';
import { cpuTimeOf } from './measurement.ts';

const [inputs = '', firstSeed = ''] = process.argv.slice(2);
const EVIDENCE_TOKENS = 10_000;
const CHUNK_BYTES = 16_384;
/** Garbage of inputs that are done is not what an input takes. */
const COLLECT_EVERY = 10;

const rollouts = readRollouts(sharedRolloutsFolder());
const slowest = { ms: 0, origin: '' };
const ends: Record<string, number> = {};
for (let seed = Number(firstSeed); seed < Number(firstSeed) + Number(inputs); seed++) {
  const { origin, bytes } = mutateRollout(rollouts, seed);
  const mode = seed % 8 === 0 ? 'middle' : 'tiered';
  const ms = await cpuTimeOf(async () => {
    const reading = await readRollout(chunksOf(bytes), { evidenceTokens: EVIDENCE_TOKENS, mode }).catch(
      (cause: unknown) => {
        throw new Error(`crashed on ${origin}`, { cause });
      },
    );
    const end = reading.kind === 'read' ? 'read' : reading.reason;
    ends[end] = (ends[end] ?? 0) + 1;
  });
  if (seed % COLLECT_EVERY === 0) globalThis.gc?.();
  if (ms > slowest.ms) Object.assign(slowest, { ms, origin });
}
console.log(JSON.stringify({ slowest, ends, peakMb: process.resourceUsage().maxRSS / 1000 }));

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}
