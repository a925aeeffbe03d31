import type { PublishStores } from './publish.ts';
import { loadVersionChain } from './version-chain.ts';

/**
 * Deletes what runs that never committed left behind: manifests that the head does not rest on. Kept is whatever a publisher
 * at work could still switch to, that is every manifest whose parent is the head or newer. Call it only while holding the
 * consolidation lock, before anything is staged.
 *
 * @returns the numbers removed
 */
export async function removeOrphanVersions(stores: PublishStores, userKey: string): Promise<readonly number[]> {
  const head = await stores.heads.read(userKey);
  const numbers = await stores.memories.manifestNumbers(userKey);
  const chain = await loadVersionChain(stores.memories, userKey, head.version);
  const reachable = new Set(chain.map((manifest) => manifest.version));
  // Below a chain that ends early lies expired or damaged history, which is not ours to judge.
  const floor = chain.at(-1)?.parent ?? 0;
  const orphans: number[] = [];
  for (const number of numbers) {
    if (reachable.has(number) || number <= floor) continue;
    const manifest = await stores.memories.manifest(userKey, number);
    if (manifest !== undefined && manifest.parent < head.version) orphans.push(number);
  }
  await stores.memories.removeOrphans(userKey, orphans);
  return orphans;
}
