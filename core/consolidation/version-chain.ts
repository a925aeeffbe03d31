import { DefectError } from '../errors.ts';
import type { Manifest } from './manifest.ts';

/** What of a manifest tells its place in the history. */
export type VersionLink = Pick<Manifest, 'version' | 'parent' | 'createdAt' | 'reason'>;

/**
 * The versions that a version was built on, itself included, newest first, by parent links. Ends at the first version
 * for which `stop` answers true (it is included), at a version without a parent, or where history has expired.
 *
 * @param version 0 gives an empty list
 * @throws DefectError `memory.chain_broken` when a parent is not older than its child; `memory.manifest_missing` when the
 *   starting version itself is gone
 */
export async function loadVersionChain<Link extends VersionLink>(
  memories: { manifest(userKey: string, version: number): Promise<Link | undefined> },
  userKey: string,
  version: number,
  stop: (manifest: Link) => boolean = () => false,
): Promise<readonly Link[]> {
  const chain: Link[] = [];
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
export function findBaseline<Link extends VersionLink>(chain: readonly Link[]): Link | undefined {
  return chain.find((manifest) => manifest.reason === 'consolidation');
}
