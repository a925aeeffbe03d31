import { createHash } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { attempt } from './object-failure.ts';
import { type ObjectPlace, putRequest, sha256Base64 } from './object-requests.ts';

/** Held in memory at once, twice; S3 takes parts from 5 MB, and 10,000 of them. */
export const PART_BYTES = 8 * 1024 * 1024;
const CONTENT_TYPE = 'application/x-ndjson';
const WRITE_FAILED = 'rollout.write_failed';

interface StoredPart {
  readonly PartNumber: number;
  readonly ETag: string | undefined;
  readonly ChecksumSHA256: string;
}

/**
 * Stores a stream whose length nobody knows: as one object while it fits into one part, else as a multipart upload. Readers see
 * the old object or the whole new one. A failure of the stream passes through as it is, and nothing is changed then.
 * @param metadata made when the first part is full, or at the end: `sha256` is known only where one part holds everything
 * @throws UnavailableError `rollout.write_failed`
 */
export async function putStream(
  client: S3Client,
  place: ObjectPlace,
  content: AsyncIterable<Uint8Array>,
  metadata: (sha256: string | null) => Record<string, string>,
): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  const parts = partsOf(content, (chunk) => {
    hash.update(chunk);
    bytes += chunk.length;
  });
  const first = (await parts.next()).value ?? new Uint8Array();
  const second = await parts.next();
  if (second.done === true) {
    const sha256 = hash.digest('hex');
    const request = putRequest(place, first, { contentType: CONTENT_TYPE, metadata: metadata(sha256) });
    await attempt(WRITE_FAILED, () => client.send(new PutObjectCommand(request)));
    return { sha256, bytes };
  }
  await putInParts(client, place, { first, second: second.value, rest: parts, metadata: metadata(null) });
  return { sha256: hash.digest('hex'), bytes };
}

async function putInParts(
  client: S3Client,
  place: ObjectPlace,
  upload: {
    readonly first: Uint8Array;
    readonly second: Uint8Array;
    readonly rest: AsyncIterable<Uint8Array>;
    readonly metadata: Record<string, string>;
  },
): Promise<void> {
  const object = { Bucket: place.bucket, Key: place.key };
  const start = {
    ...object,
    ContentType: CONTENT_TYPE,
    ChecksumAlgorithm: 'SHA256',
    Metadata: upload.metadata,
  } as const;
  const { UploadId } = await attempt(WRITE_FAILED, () => client.send(new CreateMultipartUploadCommand(start)));
  const target = { ...object, UploadId };
  try {
    const stored: StoredPart[] = [];
    const put = async (part: Uint8Array): Promise<void> => {
      stored.push(await putPart(client, target, stored.length + 1, part));
    };
    await put(upload.first);
    await put(upload.second);
    for await (const part of upload.rest) await put(part);
    const request = { ...target, MultipartUpload: { Parts: stored } };
    await attempt(WRITE_FAILED, () => client.send(new CompleteMultipartUploadCommand(request)));
  } catch (cause) {
    // What cannot be aborted now, the bucket's rule for stale uploads removes within a day.
    await client.send(new AbortMultipartUploadCommand(target)).catch(() => undefined);
    throw cause;
  }
}

async function putPart(
  client: S3Client,
  target: { readonly Bucket: string; readonly Key: string; readonly UploadId: string | undefined },
  number: number,
  content: Uint8Array,
): Promise<StoredPart> {
  const ChecksumSHA256 = sha256Base64(content);
  const request = { ...target, PartNumber: number, Body: content, ContentLength: content.length, ChecksumSHA256 };
  const { ETag } = await attempt(WRITE_FAILED, () => client.send(new UploadPartCommand(request)));
  return { PartNumber: number, ETag, ChecksumSHA256 };
}

/** Gathers chunks to parts of exactly `PART_BYTES`; the last one may be shorter. */
async function* partsOf(
  content: AsyncIterable<Uint8Array>,
  onChunk: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array, undefined> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    onChunk(chunk);
    let from = 0;
    while (bytes + chunk.length - from >= PART_BYTES) {
      const end = from + PART_BYTES - bytes;
      yield Buffer.concat([...held, chunk.subarray(from, end)]);
      from = end;
      held = [];
      bytes = 0;
    }
    if (from < chunk.length) {
      held.push(Buffer.from(chunk.subarray(from))); // a copy: the source may use its buffer again
      bytes += chunk.length - from;
    }
  }
  if (bytes > 0) yield Buffer.concat(held);
  return undefined;
}
