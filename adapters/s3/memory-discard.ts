import type { S3Client } from '@aws-sdk/client-s3';
import type { Manifest } from '../../core/consolidation/manifest.ts';
import type { StagedObjects } from '../../core/ports/memory-store.ts';
import { manifestKey, memoryKey } from './keys.ts';
import { deleteAll, listVersions } from './object-listing.ts';

/**
 * Deletes the versions that one call of publishing stored: contents by their version ids, which nobody else was given, and
 * manifests that still are what the call wrote.
 * @returns how many were refused
 * @throws UnavailableError `memory.write_failed`, `memory.read_failed`
 */
export async function discardObjects(
  place: { readonly client: S3Client; readonly bucket: string; readonly userKey: string },
  staged: StagedObjects,
  isStored: (manifest: Manifest) => Promise<boolean>,
): Promise<number> {
  const { client, bucket, userKey } = place;
  const scope = { bucket, prefix: '', failureCode: 'memory.write_failed' } as const;
  const targets: { key: string; versionId: string }[] = [];
  for (const manifest of staged.manifests) {
    const key = manifestKey(userKey, manifest.version);
    const versions = await listVersions(client, { ...scope, prefix: key });
    const latest = versions.find((version) => version.key === key && version.isLatest && !version.isMarker);
    // Looked at after the listing: one that came since has a version id of its own.
    if (latest !== undefined && (await isStored(manifest))) targets.push({ key, versionId: latest.versionId });
  }
  for (const { path, entry } of staged.files)
    targets.push({ key: memoryKey(userKey, path), versionId: entry.versionId });
  return targets.length === 0 ? 0 : deleteAll(client, scope, targets);
}
