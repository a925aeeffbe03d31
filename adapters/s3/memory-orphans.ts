import type { S3Client } from '@aws-sdk/client-s3';
import type { Manifest } from '../../core/consolidation/manifest.ts';
import { manifestsPrefix, memoriesPrefix, parseManifestKey } from './keys.ts';
import { deleteAllOrFail, listVersions, type ObjectVersion } from './object-listing.ts';

/** Manifests read at once. */
const READ_WIDTH = 16;

export interface OrphanSearch {
  readonly client: S3Client;
  readonly bucket: string;
  readonly userKey: string;
  readonly orphanManifests: ReadonlySet<number>;
  /** Younger versions that nothing names stay, ms. */
  readonly olderThan: number;
  readonly manifest: (version: number) => Promise<Manifest | undefined>;
}

/** What a clean-up deletes. */
export interface OrphanObjects {
  /** Contents that no manifest names, a stray newest version of a path included. */
  readonly contents: readonly ObjectVersion[];
  /** Delete markers of paths that the newest manifest names: one in front makes the named version count as old. */
  readonly markers: readonly ObjectVersion[];
}

/**
 * Deletes orphan manifests, contents that no remaining manifest names, and delete markers of paths that the newest one names.
 * After it the newest version of each path is one that a manifest names, so that no lifecycle rule counts the days of a version
 * that the head refers to (storage.md). Repeating it does nothing more.
 * @returns how many contents went
 * @throws UnavailableError `memory.write_failed`; DefectError `memory.manifest_unreadable`: no content is removed then
 */
export async function removeOrphanObjects(search: OrphanSearch): Promise<number> {
  const numbers = await removeManifests(search);
  const scope = scopeOf(search, memoriesPrefix(search.userKey));
  const named = new NamedContents(scope.prefix);
  await readManifests(search, numbers, named);
  const orphans = findOrphans(await listVersions(search.client, scope), { named, olderThan: search.olderThan });
  await deleteAllOrFail(search.client, scopeOf(search, ''), [...orphans.contents, ...orphans.markers]);
  return orphans.contents.length;
}

/** What manifests name. They themselves are not kept: one of a large memory has a megabyte, and there may be hundreds. */
export class NamedContents {
  readonly #prefix: string;
  readonly #names = new Set<string>();
  #newest: Manifest | undefined;

  /** @param prefix of the keys of all files */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  add(manifest: Manifest): void {
    for (const [path, { versionId }] of Object.entries(manifest.files))
      this.#names.add(`${this.#prefix}${path}\n${versionId}`);
    if (manifest.version > (this.#newest?.version ?? 0)) this.#newest = manifest;
  }

  has(item: ObjectVersion): boolean {
    return this.#names.has(`${item.key}\n${item.versionId}`);
  }

  /** Whether the newest manifest has a file there. */
  shows(key: string): boolean {
    return Object.hasOwn(this.#newest?.files ?? {}, key.slice(this.#prefix.length));
  }
}

/** Decides what goes, of all versions under a user's `memories/`. Pure. */
export function findOrphans(
  versions: readonly ObjectVersion[],
  known: { readonly named: NamedContents; readonly olderThan: number },
): OrphanObjects {
  const { named, olderThan } = known;
  return {
    contents: versions.filter((item) => !item.isMarker && item.modifiedAt <= olderThan && !named.has(item)),
    markers: versions.filter((item) => item.isMarker && named.shows(item.key)),
  };
}

/** @returns the numbers that remain */
async function removeManifests(search: OrphanSearch): Promise<readonly number[]> {
  const versions = await listVersions(search.client, scopeOf(search, manifestsPrefix(search.userKey)));
  const orphans: ObjectVersion[] = [];
  const remaining: number[] = [];
  for (const item of versions) {
    const number = parseManifestKey(search.userKey, item.key);
    if (number === undefined) continue;
    if (search.orphanManifests.has(number)) orphans.push(item);
    else if (item.isLatest && !item.isMarker) remaining.push(number);
  }
  await deleteAllOrFail(search.client, scopeOf(search, ''), orphans);
  return remaining;
}

async function readManifests(search: OrphanSearch, numbers: readonly number[], into: NamedContents): Promise<void> {
  for (let at = 0; at < numbers.length; at += READ_WIDTH) {
    const read = await Promise.all(numbers.slice(at, at + READ_WIDTH).map((number) => search.manifest(number)));
    for (const manifest of read) if (manifest !== undefined) into.add(manifest);
  }
}

function scopeOf({ bucket }: OrphanSearch, prefix: string) {
  return { bucket, prefix, failureCode: 'memory.write_failed' } as const;
}
