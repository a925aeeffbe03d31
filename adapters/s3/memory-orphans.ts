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
  const manifests = await readManifests(search, numbers);
  const scope = scopeOf(search, memoriesPrefix(search.userKey));
  const orphans = findOrphans(await listVersions(search.client, scope), {
    manifests,
    prefix: scope.prefix,
    olderThan: search.olderThan,
  });
  await deleteAllOrFail(search.client, scopeOf(search, ''), [...orphans.contents, ...orphans.markers]);
  return orphans.contents.length;
}

/** Decides what goes, of all versions under a user's `memories/`. Pure. */
export function findOrphans(
  versions: readonly ObjectVersion[],
  known: { readonly manifests: readonly Manifest[]; readonly prefix: string; readonly olderThan: number },
): OrphanObjects {
  const named = new Set<string>();
  for (const { files } of known.manifests)
    for (const [path, entry] of Object.entries(files)) named.add(nameOf(known.prefix + path, entry.versionId));
  const newest = known.manifests.reduce<Manifest | undefined>(
    (best, item) => (best === undefined || item.version > best.version ? item : best),
    undefined,
  );
  const isShown = (key: string): boolean => Object.hasOwn(newest?.files ?? {}, key.slice(known.prefix.length));
  const contents = versions.filter(
    (item) => !item.isMarker && item.modifiedAt <= known.olderThan && !named.has(nameOf(item.key, item.versionId)),
  );
  return { contents, markers: versions.filter((item) => item.isMarker && isShown(item.key)) };
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

async function readManifests(search: OrphanSearch, numbers: readonly number[]): Promise<readonly Manifest[]> {
  const manifests: Manifest[] = [];
  for (let at = 0; at < numbers.length; at += READ_WIDTH) {
    const read = await Promise.all(numbers.slice(at, at + READ_WIDTH).map((number) => search.manifest(number)));
    for (const manifest of read) if (manifest !== undefined) manifests.push(manifest);
  }
  return manifests;
}

function scopeOf({ bucket }: OrphanSearch, prefix: string) {
  return { bucket, prefix, failureCode: 'memory.write_failed' } as const;
}

function nameOf(key: string, versionId: string): string {
  return `${key}\n${versionId}`;
}
