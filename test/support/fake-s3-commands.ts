import { Readable } from 'node:stream';
import * as s3 from '@aws-sdk/client-s3';
import { sdkStreamMixin } from '@smithy/core/serde';
import type { FakeBucket, StoredVersion } from './fake-s3-bucket.ts';
import { notFound, s3Error } from './fake-s3-errors.ts';
import { cutRange, requireBody, requireKey, requireKnown, requireMetadata } from './fake-s3-input.ts';
import { fromToken, isKeyBehind, isVersionBehind, pageOf, toToken } from './fake-s3-listing.ts';
import type { FakeUploads } from './fake-s3-multipart.ts';

/** What the commands work on. */
export interface FakeS3World {
  readonly buckets: ReadonlyMap<string, FakeBucket>;
  readonly uploads: FakeUploads;
  /** Most items of one listing page, whatever a caller asks for. */
  readonly pageSize: number;
  /** Keys whose deletion is answered with an error inside DeleteObjects. */
  readonly refusedDeletes: ReadonlySet<string>;
  /** Every body that was handed out. */
  readonly bodies: Readable[];
  readonly created: (bucket: FakeBucket, version: StoredVersion) => void;
}

const OK = { $metadata: { httpStatusCode: 200 } };

/** The command's name as S3 calls it, without `Command`. */
export function commandName(command: object): string {
  return command.constructor.name.replace(/Command$/, '');
}

/** Applies one command and answers as S3 does. @throws S3ServiceException as S3 refuses; Error for what the fake does not know */
export function applyCommand(world: FakeS3World, command: { readonly input: object }): object {
  requireKnown(commandName(command), command.input);
  if (command instanceof s3.PutObjectCommand) return putObject(world, command.input);
  if (command instanceof s3.GetObjectCommand) return getObject(world, command.input);
  if (command instanceof s3.HeadObjectCommand) return headObject(world, command.input);
  if (command instanceof s3.ListObjectsV2Command) return listObjects(world, command.input);
  if (command instanceof s3.ListObjectVersionsCommand) return listVersions(world, command.input);
  if (command instanceof s3.DeleteObjectCommand) return deleteObject(world, command.input);
  if (command instanceof s3.DeleteObjectsCommand) return deleteObjects(world, command.input);
  if (command instanceof s3.CreateMultipartUploadCommand) return createUpload(world, command.input);
  if (command instanceof s3.UploadPartCommand) return uploadPart(world, command.input);
  if (command instanceof s3.CompleteMultipartUploadCommand) return completeUpload(world, command.input);
  if (command instanceof s3.AbortMultipartUploadCommand) return abortUpload(world, command.input);
  if (command instanceof s3.ListMultipartUploadsCommand) return listUploads(world, command.input);
  throw new Error(`FakeS3: ${commandName(command)} comes from another copy of the SDK`);
}

function bucketOf(world: FakeS3World, name: string | undefined): FakeBucket {
  const bucket = world.buckets.get(name ?? '');
  if (bucket === undefined) throw s3Error('NoSuchBucket', 404);
  return bucket;
}

function putObject(world: FakeS3World, input: s3.PutObjectCommandInput): object {
  const bucket = bucketOf(world, input.Bucket);
  const object = {
    body: requireBody(input),
    metadata: requireMetadata(input.Metadata),
    contentType: input.ContentType,
    tagging: input.Tagging,
    checksumSha256: input.ChecksumSHA256,
  };
  const conditions = { ifNoneMatch: input.IfNoneMatch, ifMatch: input.IfMatch };
  const stored = bucket.put(requireKey(input.Key), object, conditions);
  world.created(bucket, stored);
  return { ...OK, ETag: stored.etag, ...versionIdOf(bucket, stored), ChecksumSHA256: stored.checksumSha256 };
}

function getObject(world: FakeS3World, input: s3.GetObjectCommandInput): object {
  const bucket = bucketOf(world, input.Bucket);
  const found = bucket.find(requireKey(input.Key), input.VersionId);
  const { bytes, contentRange } = cutRange(found.body, input.Range);
  const body = Readable.from(chunksOf(bytes), { objectMode: false });
  world.bodies.push(body);
  return {
    ...OK,
    ...describe(bucket, found),
    ContentLength: bytes.length,
    ContentRange: contentRange,
    Body: sdkStreamMixin(body),
  };
}

function headObject(world: FakeS3World, input: s3.HeadObjectCommandInput): object {
  const bucket = bucketOf(world, input.Bucket);
  const found = bucket.find(requireKey(input.Key), input.VersionId, notFound);
  const checksum = input.ChecksumMode === 'ENABLED' ? { ChecksumSHA256: found.checksumSha256 } : {};
  return { ...OK, ...describe(bucket, found), ...checksum };
}

function listObjects(world: FakeS3World, input: s3.ListObjectsV2CommandInput): object {
  const bucket = bucketOf(world, input.Bucket);
  const after = fromToken(input.ContinuationToken) ?? input.StartAfter;
  const current = bucket.keys(input.Prefix).flatMap((key) => bucket.current(key) ?? []);
  const { items, last } = pageOf(current, (item) => isKeyBehind(item.key, after), pageSize(world, input.MaxKeys));
  return {
    ...OK,
    Name: bucket.name,
    KeyCount: items.length,
    IsTruncated: last !== undefined,
    NextContinuationToken: last && toToken(last.key),
    ...(items.length === 0 ? {} : { Contents: items.map((item) => listed(item)) }),
  };
}

function listVersions(world: FakeS3World, input: s3.ListObjectVersionsCommandInput): object {
  const bucket = bucketOf(world, input.Bucket);
  const isBehind = (item: StoredVersion) => isVersionBehind(item, input.KeyMarker, input.VersionIdMarker);
  const { items, last } = pageOf(bucket.allVersions(input.Prefix), isBehind, pageSize(world, input.MaxKeys));
  const entry = (item: StoredVersion) => ({ VersionId: item.versionId, IsLatest: bucket.newest(item.key) === item });
  const versions = items.filter((item) => !item.deleteMarker).map((item) => ({ ...listed(item), ...entry(item) }));
  const markers = items.filter((item) => item.deleteMarker);
  return {
    ...OK,
    IsTruncated: last !== undefined,
    NextKeyMarker: last?.key,
    NextVersionIdMarker: last?.versionId,
    ...(versions.length === 0 ? {} : { Versions: versions }),
    ...(markers.length === 0
      ? {}
      : {
          DeleteMarkers: markers.map((item) => ({
            Key: item.key,
            LastModified: new Date(item.lastModified),
            ...entry(item),
          })),
        }),
  };
}

function deleteObject(world: FakeS3World, input: s3.DeleteObjectCommandInput): object {
  const bucket = bucketOf(world, input.Bucket);
  const deleted = bucket.delete(requireKey(input.Key), input.VersionId);
  return {
    $metadata: { httpStatusCode: 204 },
    ...(bucket.versioned ? { VersionId: deleted?.versionId ?? input.VersionId } : {}),
    ...(deleted?.deleteMarker === true ? { DeleteMarker: true } : {}),
  };
}

function deleteObjects(world: FakeS3World, input: s3.DeleteObjectsCommandInput): object {
  const bucket = bucketOf(world, input.Bucket);
  const named = input.Delete?.Objects ?? [];
  if (named.length === 0 || named.length > 1_000) throw s3Error('MalformedXML', 400);
  const deleted: object[] = [];
  const errors: object[] = [];
  for (const { Key, VersionId } of named) {
    const key = requireKey(Key);
    if (world.refusedDeletes.has(key)) {
      errors.push({ Key, VersionId, Code: 'AccessDenied', Message: 'Access Denied' });
      continue;
    }
    const gone = bucket.delete(key, VersionId);
    const marker = gone?.deleteMarker === true ? { DeleteMarker: true, DeleteMarkerVersionId: gone.versionId } : {};
    if (input.Delete?.Quiet !== true) deleted.push({ Key, VersionId, ...marker });
  }
  return {
    ...OK,
    ...(deleted.length > 0 ? { Deleted: deleted } : {}),
    ...(errors.length > 0 ? { Errors: errors } : {}),
  };
}

function createUpload(world: FakeS3World, input: s3.CreateMultipartUploadCommandInput): object {
  const bucket = bucketOf(world, input.Bucket);
  if (input.ChecksumAlgorithm !== undefined && input.ChecksumAlgorithm !== 'SHA256')
    throw new Error('FakeS3: SHA256 only');
  const upload = { metadata: requireMetadata(input.Metadata), contentType: input.ContentType };
  const { uploadId } = world.uploads.create({ bucket, key: requireKey(input.Key), ...upload });
  return { ...OK, Bucket: bucket.name, Key: input.Key, UploadId: uploadId };
}

function uploadPart(world: FakeS3World, input: s3.UploadPartCommandInput): object {
  const upload = world.uploads.find(bucketOf(world, input.Bucket), requireKey(input.Key), input.UploadId);
  const part = world.uploads.putPart(upload, input.PartNumber ?? 0, requireBody(input), input.ChecksumSHA256);
  return { ...OK, ETag: part.etag, ChecksumSHA256: part.checksumSha256 };
}

function completeUpload(world: FakeS3World, input: s3.CompleteMultipartUploadCommandInput): object {
  const bucket = bucketOf(world, input.Bucket);
  const upload = world.uploads.find(bucket, requireKey(input.Key), input.UploadId);
  const parts = (input.MultipartUpload?.Parts ?? []).map((part) => ({
    number: part.PartNumber ?? 0,
    etag: part.ETag ?? '',
    checksumSha256: part.ChecksumSHA256,
  }));
  const stored = world.uploads.complete(upload, parts);
  world.created(bucket, stored);
  return {
    ...OK,
    Key: stored.key,
    ETag: stored.etag,
    ...versionIdOf(bucket, stored),
    ChecksumSHA256: stored.checksumSha256,
  };
}

function abortUpload(world: FakeS3World, input: s3.AbortMultipartUploadCommandInput): object {
  world.uploads.abort(world.uploads.find(bucketOf(world, input.Bucket), requireKey(input.Key), input.UploadId));
  return { $metadata: { httpStatusCode: 204 } };
}

function listUploads(world: FakeS3World, input: s3.ListMultipartUploadsCommandInput): object {
  const all = world.uploads.of(bucketOf(world, input.Bucket), input.Prefix);
  const { KeyMarker: key, UploadIdMarker: id } = input;
  const isBehind = (item: { key: string; uploadId: string }) =>
    isKeyBehind(item.key, key) || (item.key === key && id !== undefined && item.uploadId > id);
  const { items, last } = pageOf(all, isBehind, pageSize(world, input.MaxUploads));
  return {
    ...OK,
    IsTruncated: last !== undefined,
    NextKeyMarker: last?.key,
    NextUploadIdMarker: last?.uploadId,
    ...(items.length === 0 ? {} : { Uploads: items.map((item) => ({ Key: item.key, UploadId: item.uploadId })) }),
  };
}

function pageSize(world: FakeS3World, asked: number | undefined): number {
  return Math.min(asked ?? 1_000, 1_000, world.pageSize);
}

function listed(item: StoredVersion): object {
  return { Key: item.key, Size: item.body.length, ETag: item.etag, LastModified: new Date(item.lastModified) };
}

function describe(bucket: FakeBucket, found: StoredVersion): object {
  return {
    ContentLength: found.body.length,
    ContentType: found.contentType ?? 'binary/octet-stream',
    ETag: found.etag,
    LastModified: new Date(found.lastModified),
    Metadata: { ...found.metadata },
    ...versionIdOf(bucket, found),
  };
}

function versionIdOf(bucket: FakeBucket, version: StoredVersion): object {
  return bucket.versioned ? { VersionId: version.versionId } : {};
}

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}
