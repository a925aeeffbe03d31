import type { Manifest } from '../consolidation/manifest.ts';
import { readAhead } from '../consolidation/read-ahead.ts';
import { loadVersionChain } from '../consolidation/version-chain.ts';
import type { Clock } from '../ports/clock.ts';
import type { HeadStore } from '../ports/head-store.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import { LIMITS } from '../settings.ts';
import { DAY_MS, toFileTime } from '../time.ts';

/** One version as the wire and the command line show it. */
export interface VersionRow {
  readonly version: number;
  readonly parent: number;
  readonly created_at: string;
  readonly reason: string;
  /** Inputs that its parent did not rest on; those it did; and those that left. */
  readonly added: number;
  readonly retained: number;
  readonly removed: number;
  readonly files_changed: number;
}

export interface ListVersionsPorts {
  readonly heads: Pick<HeadStore, 'read'>;
  readonly memories: Pick<MemoryStore, 'manifest'>;
  readonly clock: Clock;
}

export interface VersionList {
  readonly rows: readonly VersionRow[];
  /** Older ones follow. */
  readonly more: boolean;
}

/**
 * The versions that the current one rests on, newest first, as far back as they can be read: until `LIMITS.historyDays` after
 * the next one took their place.
 * @param page.before only versions below this number; absent: from the current one
 * @param page.limit at most this many; absent: all
 */
export async function listVersions(
  ports: ListVersionsPorts,
  userKey: string,
  page: { readonly before?: number | undefined; readonly limit?: number } = {},
): Promise<VersionList> {
  const head = await ports.heads.read(userKey);
  const before = page.before ?? Number.POSITIVE_INFINITY;
  const limit = page.limit ?? Number.POSITIVE_INFINITY;
  const since = ports.clock.now() - LIMITS.historyDays * DAY_MS;
  let wanted = 0;
  let expired = false;
  // One more than is shown: the parent of the last one tells what it changed, expired or not.
  const chain = await loadVersionChain(readAhead(ports.memories, 1), userKey, head.version, (manifest) => {
    if (manifest.version < before) wanted += 1;
    const isLast = wanted > limit || expired;
    expired = manifest.createdAt < since;
    return isLast;
  });
  const readable = chain.filter((_, at) => at === 0 || (chain[at - 1]?.createdAt ?? 0) >= since);
  const rows = readable
    .filter(({ version }) => version < before)
    .slice(0, limit)
    .map((manifest) => toVersionRow(manifest, chain[chain.indexOf(manifest) + 1]));
  return { rows, more: readable.some(({ version }) => version < (rows.at(-1)?.version ?? 0)) };
}

function toVersionRow(manifest: Manifest, parent: Manifest | undefined): VersionRow {
  const before = new Set(parent?.inputs.map((input) => `${input.threadId}@${input.sourceUpdatedAt}`));
  const added = manifest.inputs.filter((input) => !before.has(`${input.threadId}@${input.sourceUpdatedAt}`)).length;
  return {
    version: manifest.version,
    parent: manifest.parent,
    created_at: toFileTime(manifest.createdAt),
    reason: manifest.reason,
    added,
    retained: manifest.inputs.length - added,
    removed: manifest.removed.length,
    files_changed: countChanged(manifest, parent),
  };
}

function countChanged(manifest: Manifest, parent: Manifest | undefined): number {
  const paths = new Set([...Object.keys(manifest.files), ...Object.keys(parent?.files ?? {})]);
  return [...paths].filter((path) => manifest.files[path]?.sha256 !== parent?.files[path]?.sha256).length;
}
