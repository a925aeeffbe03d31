import { createHash } from 'node:crypto';
import type {
  DeleteObjectsCommandInput,
  GetObjectCommandInput,
  HeadObjectCommandInput,
  ListObjectsV2CommandInput,
  ListObjectVersionsCommandInput,
  PutObjectCommandInput,
} from '@aws-sdk/client-s3';

/** Where an object lies. */
export interface ObjectPlace {
  readonly bucket: string;
  readonly key: string;
}

/** One version to delete for good, or, without a version id, a key to hide behind a delete marker. */
export interface DeleteTarget {
  readonly key: string;
  readonly versionId?: string;
}

/** Most objects that one DeleteObjects takes. */
export const DELETE_BATCH = 1_000;

/** Stores bytes; S3 refuses them when they do not arrive as they were sent. */
export function putRequest(
  place: ObjectPlace,
  content: Uint8Array,
  more: {
    readonly contentType: string;
    readonly metadata?: Record<string, string>;
    readonly tag?: { readonly key: string; readonly value: string };
  },
): PutObjectCommandInput {
  return {
    Bucket: place.bucket,
    Key: place.key,
    Body: content,
    ContentLength: content.length,
    ContentType: more.contentType,
    ChecksumSHA256: sha256Base64(content),
    ...(more.metadata === undefined ? {} : { Metadata: more.metadata }),
    ...(more.tag === undefined ? {} : { Tagging: `${more.tag.key}=${more.tag.value}` }),
  };
}

/** Stores bytes where nothing lies yet; else S3 answers 412. */
export function createRequest(place: ObjectPlace, content: Uint8Array, contentType: string): PutObjectCommandInput {
  return { ...putRequest(place, content, { contentType }), IfNoneMatch: '*' };
}

/** Reads the current object, or one version of it. */
export function readRequest({ bucket, key }: ObjectPlace, versionId?: string): GetObjectCommandInput {
  return versionId === undefined ? { Bucket: bucket, Key: key } : { Bucket: bucket, Key: key, VersionId: versionId };
}

/** What lies there, without its bytes. */
export function lookRequest({ bucket, key }: ObjectPlace): HeadObjectCommandInput {
  return { Bucket: bucket, Key: key, ChecksumMode: 'ENABLED' };
}

export function listRequest(bucket: string, prefix: string, token: string | undefined): ListObjectsV2CommandInput {
  return { Bucket: bucket, Prefix: prefix, ...(token === undefined ? {} : { ContinuationToken: token }) };
}

/** Where a listing of versions goes on. */
export interface VersionMarker {
  readonly key: string | undefined;
  readonly versionId: string | undefined;
}

export function listVersionsRequest(
  bucket: string,
  prefix: string,
  after: VersionMarker | undefined,
): ListObjectVersionsCommandInput {
  return {
    Bucket: bucket,
    Prefix: prefix,
    ...(after?.key === undefined ? {} : { KeyMarker: after.key }),
    ...(after?.versionId === undefined ? {} : { VersionIdMarker: after.versionId }),
  };
}

/** @param targets at most `DELETE_BATCH`; only what could not be deleted is answered */
export function deleteRequest(bucket: string, targets: readonly DeleteTarget[]): DeleteObjectsCommandInput {
  const objects = targets.map(({ key, versionId }) =>
    versionId === undefined ? { Key: key } : { Key: key, VersionId: versionId },
  );
  return { Bucket: bucket, Delete: { Objects: objects, Quiet: true } };
}

/** SHA-256 as S3 writes it. */
export function sha256Base64(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('base64');
}
