import { createHash } from 'node:crypto';
import { s3Error } from './fake-s3-errors.ts';

/** Parameters that are understood, by command. What is not listed is refused, so that no call seems to work by luck. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  PutObject: [
    'Bucket',
    'Key',
    'Body',
    'ContentType',
    'ContentLength',
    'Metadata',
    'Tagging',
    'ChecksumSHA256',
    'IfNoneMatch',
    'IfMatch',
  ],
  GetObject: ['Bucket', 'Key', 'VersionId', 'Range'],
  HeadObject: ['Bucket', 'Key', 'VersionId', 'ChecksumMode'],
  ListObjectsV2: ['Bucket', 'Prefix', 'MaxKeys', 'ContinuationToken', 'StartAfter'],
  ListObjectVersions: ['Bucket', 'Prefix', 'MaxKeys', 'KeyMarker', 'VersionIdMarker'],
  DeleteObject: ['Bucket', 'Key', 'VersionId'],
  DeleteObjects: ['Bucket', 'Delete'],
  CreateMultipartUpload: ['Bucket', 'Key', 'Metadata', 'ContentType', 'ChecksumAlgorithm'],
  UploadPart: ['Bucket', 'Key', 'UploadId', 'PartNumber', 'Body', 'ContentLength', 'ChecksumSHA256'],
  CompleteMultipartUpload: ['Bucket', 'Key', 'UploadId', 'MultipartUpload'],
  AbortMultipartUpload: ['Bucket', 'Key', 'UploadId'],
  ListMultipartUploads: ['Bucket', 'Prefix', 'MaxUploads', 'KeyMarker', 'UploadIdMarker'],
};

/** @throws Error for a command or a parameter that is not understood */
export function requireKnown(command: string, input: object): void {
  const known = KNOWN[command];
  if (known === undefined) throw new Error(`FakeS3 does not know the command ${command}`);
  for (const [name, value] of Object.entries(input))
    if (value !== undefined && !known.includes(name)) throw new Error(`FakeS3 does not know ${command}.${name}`);
}

/** A key as S3 takes it: 1 to 1,024 bytes. */
export function requireKey(key: string | undefined): string {
  if (key === undefined || key === '') throw new Error('FakeS3: Key is missing');
  if (Buffer.byteLength(key) > 1_024) throw s3Error('KeyTooLongError', 400);
  return key;
}

/** Metadata as it fits into headers: names of one case, values of printable ASCII, 2 KB in all. */
export function requireMetadata(metadata: Record<string, string> | undefined): Record<string, string> {
  let bytes = 0;
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(metadata ?? {})) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) throw new Error('FakeS3: a metadata name is no header name');
    if (!/^[\x20-\x7e]*$/.test(value)) throw new Error(`FakeS3: metadata ${name} is not printable ASCII`);
    bytes += name.length + value.length;
    kept[name.toLowerCase()] = value;
  }
  if (bytes > 2_048) throw s3Error('MetadataTooLarge', 400);
  return kept;
}

/** The bytes of a body, which must match the checksum and the length where they are given. Streams are refused. */
export function requireBody(input: {
  readonly Body?: unknown;
  readonly ContentLength?: number | undefined;
  readonly ChecksumSHA256?: string | undefined;
}): Uint8Array {
  const body = input.Body ?? '';
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new Error('FakeS3 takes bytes and text as a body');
  const bytes = Buffer.from(body); // a copy: the caller may use its buffer again
  if (input.ContentLength !== undefined && input.ContentLength !== bytes.length) throw s3Error('IncompleteBody', 400);
  const sum = createHash('sha256').update(bytes).digest('base64');
  if (input.ChecksumSHA256 !== undefined && input.ChecksumSHA256 !== sum) throw s3Error('BadDigest', 400);
  return bytes;
}

/** `bytes=a-b`, `bytes=a-` or `bytes=-n` within a body. */
export function cutRange(body: Uint8Array, range: string | undefined): { bytes: Uint8Array; contentRange?: string } {
  if (range === undefined) return { bytes: body };
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  if (from === '' && to === '') throw s3Error('InvalidArgument', 400);
  const start = from === '' ? Math.max(0, body.length - Number(to)) : Number(from);
  const end = from === '' || to === '' ? body.length - 1 : Math.min(Number(to), body.length - 1);
  if (start > end) throw s3Error('InvalidRange', 416);
  return { bytes: body.subarray(start, end + 1), contentRange: `bytes ${start}-${end}/${body.length}` };
}
