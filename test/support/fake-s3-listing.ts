import type { StoredVersion } from './fake-s3-bucket.ts';
import { s3Error } from './fake-s3-errors.ts';

export interface Page<T> {
  readonly items: readonly T[];
  /** The last item of a page that has others behind it. */
  readonly last: T | undefined;
}

/** At most `limit` items from the first one on that `isBehind`; what follows it counts as behind, too. */
export function pageOf<T>(all: readonly T[], isBehind: (item: T) => boolean, limit: number): Page<T> {
  const start = all.findIndex(isBehind);
  if (start < 0) return { items: [], last: undefined };
  const items = all.slice(start, start + limit);
  return { items, last: all.length > start + items.length ? items.at(-1) : undefined };
}

export function isKeyBehind(key: string, marker: string | undefined): boolean {
  return marker === undefined || Buffer.compare(Buffer.from(key), Buffer.from(marker)) > 0;
}

/** Whether a version comes behind a marker of a listing: a key, and maybe one version of it. Ids rise with time. */
export function isVersionBehind(
  version: StoredVersion,
  keyMarker: string | undefined,
  versionMarker: string | undefined,
) {
  if (versionMarker !== undefined && keyMarker === undefined) {
    throw s3Error('InvalidArgument', 400, 'A version-id marker cannot be specified without a key marker.');
  }
  if (isKeyBehind(version.key, keyMarker)) return true;
  return version.key === keyMarker && versionMarker !== undefined && version.versionId < versionMarker;
}

export function toToken(key: string): string {
  return Buffer.from(key).toString('base64url');
}

export function fromToken(token: string | undefined): string | undefined {
  return token === undefined ? undefined : Buffer.from(token, 'base64url').toString();
}
