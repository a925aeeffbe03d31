import {
  DeleteObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { attempt, type ObjectFailureCode, refusedDeletes } from './object-failure.ts';
import {
  DELETE_BATCH,
  type DeleteTarget,
  deleteRequest,
  listRequest,
  listVersionsRequest,
  type ObjectPlace,
  type VersionMarker,
} from './object-requests.ts';

/** One version of an object, or a delete marker. */
export interface ObjectVersion {
  readonly key: string;
  readonly versionId: string;
  readonly isLatest: boolean;
  readonly isMarker: boolean;
  /** ms. */
  readonly modifiedAt: number;
}

/** What a listing asks: a prefix, or one whole key. */
export interface ListScope {
  readonly bucket: string;
  readonly prefix: string;
  readonly failureCode: ObjectFailureCode;
}

/** Keys of all current objects under a prefix. */
export async function listKeys(client: S3Client, scope: ListScope): Promise<readonly string[]> {
  const keys: string[] = [];
  let token: string | undefined;
  do {
    const request = listRequest(scope.bucket, scope.prefix, token);
    const page = await attempt(scope.failureCode, () => client.send(new ListObjectsV2Command(request)));
    for (const { Key } of page.Contents ?? []) if (Key !== undefined) keys.push(Key);
    token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (token !== undefined);
  return keys;
}

/** Every version and delete marker under a prefix. Within a key the newest comes first; markers may come apart from versions. */
export async function listVersions(client: S3Client, scope: ListScope): Promise<readonly ObjectVersion[]> {
  const versions: ObjectVersion[] = [];
  let after: VersionMarker | undefined;
  do {
    const page = await listVersionsPage(client, scope, after);
    versions.push(...page.versions);
    after = page.next;
  } while (after !== undefined);
  return versions;
}

/** One page of versions from a place on. */
export async function listVersionsPage(
  client: S3Client,
  scope: ListScope,
  after?: VersionMarker,
): Promise<{ readonly versions: readonly ObjectVersion[]; readonly next: VersionMarker | undefined }> {
  const request = listVersionsRequest(scope.bucket, scope.prefix, after);
  const page = await attempt(scope.failureCode, () => client.send(new ListObjectVersionsCommand(request)));
  const versions = [
    ...(page.Versions ?? []).flatMap((item) => toVersion(item, false)),
    ...(page.DeleteMarkers ?? []).flatMap((item) => toVersion(item, true)),
  ];
  return { versions, next: nextMarker(page) };
}

/**
 * Deletes an object with all its versions.
 * @returns false where there was no current one
 */
export async function removeObject(
  client: S3Client,
  { bucket, key }: ObjectPlace,
  failureCode: ObjectFailureCode,
): Promise<boolean> {
  const scope = { bucket, prefix: key, failureCode };
  const versions = (await listVersions(client, scope)).filter((version) => version.key === key);
  await deleteAllOrFail(client, scope, versions);
  return versions.some((version) => version.isLatest && !version.isMarker);
}

/** Deletes versions for good. @throws UnavailableError with the scope's code, also when S3 refuses only some */
export async function deleteAllOrFail(
  client: S3Client,
  scope: Pick<ListScope, 'bucket' | 'failureCode'>,
  targets: readonly DeleteTarget[],
): Promise<void> {
  const refused = await deleteAll(client, scope, targets);
  if (refused > 0) throw refusedDeletes(scope.failureCode, refused);
}

/**
 * Deletes versions for good, or hides keys.
 * @returns how many S3 refused one by one
 */
export async function deleteAll(
  client: S3Client,
  scope: Pick<ListScope, 'bucket' | 'failureCode'>,
  targets: readonly DeleteTarget[],
): Promise<number> {
  let refused = 0;
  for (let at = 0; at < targets.length; at += DELETE_BATCH) {
    const request = deleteRequest(scope.bucket, targets.slice(at, at + DELETE_BATCH));
    const answer = await attempt(scope.failureCode, () => client.send(new DeleteObjectsCommand(request)));
    refused += answer.Errors?.length ?? 0;
  }
  return refused;
}

function nextMarker(page: ListObjectVersionsCommandOutput): VersionMarker | undefined {
  if (page.IsTruncated !== true || page.NextKeyMarker === undefined) return undefined;
  return { key: page.NextKeyMarker, versionId: page.NextVersionIdMarker };
}

interface ListedVersion {
  readonly Key?: string | undefined;
  readonly VersionId?: string | undefined;
  readonly IsLatest?: boolean | undefined;
  readonly LastModified?: Date | undefined;
}

function toVersion(item: ListedVersion, isMarker: boolean): ObjectVersion[] {
  if (item.Key === undefined || item.VersionId === undefined) return [];
  const modifiedAt = item.LastModified?.getTime() ?? Number.POSITIVE_INFINITY; // unknown counts as new: nothing is deleted then
  return [{ key: item.Key, versionId: item.VersionId, isLatest: item.IsLatest === true, isMarker, modifiedAt }];
}
