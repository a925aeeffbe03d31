import { LIMITS } from '../settings.ts';
import { DAY_MS } from '../time.ts';
import type { PublishStores } from './publish.ts';
import { findBaseline, loadVersionChain, type VersionLink } from './version-chain.ts';

/** Manifests read at once. */
const READ_WIDTH = 16;

export interface CleanUp {
  /** ms since the epoch. */
  readonly now: number;
  /** Asked before each batch of reads and before anything is removed: false ends the clean-up, with nothing removed. */
  readonly holdsLock: () => Promise<boolean>;
}

/**
 * Deletes what no reader can come to any more: manifests of runs that never committed, and versions that were superseded more
 * than `LIMITS.historyDays` ago; with them the contents that only they name. Kept is whatever a publisher at work could still
 * switch to, that is every manifest whose parent is the head or newer, and of the history all from the head down to the
 * newest consolidation, however old. Call it only while holding the consolidation lock, before anything is staged.
 *
 * @returns the numbers removed
 */
export async function removeOrphanVersions(
  stores: PublishStores,
  userKey: string,
  cleanUp: CleanUp,
): Promise<readonly number[]> {
  const head = await stores.heads.read(userKey);
  const manifests = await readAll(stores, userKey, cleanUp);
  if (manifests === undefined) return [];
  const read = { manifest: async (_userKey: string, version: number) => manifests.get(version) };
  const chain = await loadVersionChain(read, userKey, head.version);
  const before = cleanUp.now - LIMITS.historyDays * DAY_MS;
  const expired = findExpired(chain, before);
  const reachable = new Set(chain.map((manifest) => manifest.version));
  const last = chain.at(-1);
  // Below a chain that ends early lies damaged history, which is not ours to judge; or what an expiry that broke off left.
  const floor = last?.parent ?? 0;
  const isLeft = ({ createdAt }: VersionLink): boolean => createdAt < before && (last?.createdAt ?? before) < before;
  const orphans = [...manifests.values()].filter((manifest) => {
    if (reachable.has(manifest.version)) return false;
    return manifest.version <= floor ? isLeft(manifest) : manifest.parent < head.version;
  });
  const numbers = [...orphans, ...expired].map(({ version }) => version).sort((left, right) => left - right);
  if (!(await cleanUp.holdsLock())) return [];
  await stores.memories.removeOrphans(userKey, numbers);
  return numbers;
}

/**
 * The oldest part of a chain (newest first): versions whose child is older than a time. Never the head, nor anything down to
 * the newest consolidation, which the next run compares with.
 */
function findExpired(chain: readonly VersionLink[], before: number): readonly VersionLink[] {
  const baseline = findBaseline(chain);
  const kept = baseline === undefined ? 0 : chain.indexOf(baseline);
  const first = chain.findIndex((_, at) => at > kept && (chain[at - 1]?.createdAt ?? before) < before);
  return first === -1 ? [] : chain.slice(first);
}

/**
 * Of each manifest only its place in the history is kept: one of a large memory has a megabyte, and there may be hundreds.
 * @returns all by number; undefined when the lock was lost
 */
async function readAll(
  { memories }: PublishStores,
  userKey: string,
  { holdsLock }: CleanUp,
): Promise<ReadonlyMap<number, VersionLink> | undefined> {
  const numbers = await memories.manifestNumbers(userKey);
  const manifests = new Map<number, VersionLink>();
  for (let at = 0; at < numbers.length; at += READ_WIDTH) {
    if (!(await holdsLock())) return undefined;
    const read = numbers.slice(at, at + READ_WIDTH).map((number) => memories.manifest(userKey, number));
    for (const manifest of await Promise.all(read)) {
      if (manifest === undefined) continue;
      const { version, parent, createdAt, reason } = manifest;
      manifests.set(version, { version, parent, createdAt, reason });
    }
  }
  return manifests;
}
