import { expect, it } from 'vitest';
import { readRollout } from '../../../core/rollout/read-rollout.ts';
import { mutateRollout, readRollouts } from '../../support/mutated-rollouts.ts';
import { sharedRolloutsFolder } from '../../support/shared-rollouts.ts';

const INPUTS = 150;

/** A sample of what `npm run bench -- --only fuzz` does with twenty thousand. */
it('reads damaged rollouts to an end, the same way whatever the chunks are', async () => {
  const rollouts = readRollouts(sharedRolloutsFolder());
  for (let seed = 1_000_001; seed <= 1_000_000 + INPUTS; seed++) {
    const { origin, bytes } = mutateRollout(rollouts, seed);
    const read = (chunkBytes: number): ReturnType<typeof readRollout> =>
      readRollout(chunksOf(bytes, chunkBytes), { evidenceTokens: 2_000 });
    const reading = await read(65_536);
    expect(reading.counts.bytes, origin).toBe(bytes.length);
    expect(await read(1 + ((seed * 7_919) % 5_000)), origin).toEqual(reading);
  }
}, 20_000);

async function* chunksOf(bytes: Uint8Array, chunkBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}
