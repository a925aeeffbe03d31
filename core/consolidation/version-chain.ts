import { DefectError } from '../errors.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import type { Manifest } from './manifest.ts';

/**
 * The versions that a version was built on, itself included, newest first, by parent links. Ends at the first version
 * for which `stop` answers true (it is included), at a version without a parent, or where history has expired.
 *
 * @param version 0 gives an empty list
 * @throws DefectError `memory.chain_broken` when a parent is not older than its child; `memory.manifest_missing` when the
 *   starting version itself is gone
 */
export async function loadVersionChain(
  memories: Pick<MemoryStore, 'manifest'>,
  userKey: string,
  version: number,
  stop: (manifest: Manifest) => boolean = () => false,
): Promise<readonly Manifest[]> {
  const chain: Manifest[] = [];
  let next = version;
  while (next > 0) {
    const manifest = await memories.manifest(userKey, next);
    if (manifest === undefined) break;
    if (manifest.parent >= manifest.version)
      throw new DefectError('memory.chain_broken', 'a version must be newer than its parent', {
        details: { version: manifest.version, parent: manifest.parent },
      });
    chain.push(manifest);
    if (stop(manifest)) break;
    next = manifest.parent;
  }
  if (version > 0 && chain.length === 0)
    throw new DefectError('memory.manifest_missing', 'the current version has no manifest', { details: { version } });
  return chain;
}

/**
 * What the workspace is compared with (storage.md; behaviours 1.I): the newest version of the chain that a consolidation
 * made. Notes, edits and forgets after it are thus seen as changes by the next run.
 */
export function findBaseline(chain: readonly Manifest[]): Manifest | undefined {
  return chain.find((manifest) => manifest.reason === 'consolidation');
}
