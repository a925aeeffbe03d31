import { createHash } from 'node:crypto';
import type { FakeBucket, StoredVersion } from './fake-s3-bucket.ts';
import { s3Error } from './fake-s3-errors.ts';

const LEAST_PART_BYTES = 5 * 1024 * 1024;

interface Part {
  readonly body: Uint8Array;
  readonly etag: string;
  readonly checksumSha256: string | undefined;
}

export interface OpenUpload {
  readonly bucket: FakeBucket;
  readonly key: string;
  readonly uploadId: string;
  readonly metadata: Readonly<Record<string, string>> | undefined;
  readonly contentType: string | undefined;
  readonly parts: Map<number, Part>;
}

export interface NamedPart {
  readonly number: number;
  readonly etag: string;
  readonly checksumSha256: string | undefined;
}

/** Multipart uploads that were begun and neither completed nor aborted. */
export class FakeUploads {
  readonly #open = new Map<string, OpenUpload>();
  #count = 0;

  create(upload: Omit<OpenUpload, 'uploadId' | 'parts'>): OpenUpload {
    const uploadId = `upload-${++this.#count}`;
    const opened = { ...upload, uploadId, parts: new Map<number, Part>() };
    this.#open.set(uploadId, opened);
    return opened;
  }

  of(bucket: FakeBucket, prefix = ''): readonly OpenUpload[] {
    const mine = [...this.#open.values()].filter((item) => item.bucket === bucket && item.key.startsWith(prefix));
    return mine.sort((left, right) => Buffer.compare(Buffer.from(left.key), Buffer.from(right.key)));
  }

  putPart(upload: OpenUpload, number: number, body: Uint8Array, checksumSha256: string | undefined): Part {
    if (!Number.isInteger(number) || number < 1 || number > 10_000) throw s3Error('InvalidArgument', 400);
    const part = { body, etag: `"${createHash('md5').update(body).digest('hex')}"`, checksumSha256 };
    upload.parts.set(number, part);
    return part;
  }

  find(bucket: FakeBucket, key: string, uploadId: string | undefined): OpenUpload {
    const upload = this.#open.get(uploadId ?? '');
    if (upload === undefined || upload.bucket !== bucket || upload.key !== key) throw s3Error('NoSuchUpload', 404);
    return upload;
  }

  abort(upload: OpenUpload): void {
    this.#open.delete(upload.uploadId);
  }

  complete(upload: OpenUpload, named: readonly NamedPart[]): StoredVersion {
    if (named.length === 0) throw s3Error('MalformedXML', 400);
    if (named.some((item, at) => at > 0 && item.number <= (named[at - 1]?.number ?? 0)))
      throw s3Error('InvalidPartOrder', 400);
    const parts = named.map((item, at) => {
      const part = upload.parts.get(item.number);
      if (part === undefined || part.etag !== item.etag) throw s3Error('InvalidPart', 400);
      if (part.checksumSha256 !== item.checksumSha256) throw s3Error('InvalidPart', 400);
      if (at < named.length - 1 && part.body.length < LEAST_PART_BYTES) throw s3Error('EntityTooSmall', 400);
      return part;
    });
    const sums = parts.flatMap((part) => (part.checksumSha256 === undefined ? [] : [part.checksumSha256]));
    const ofSums = createHash('sha256').update(Buffer.concat(sums.map((sum) => Buffer.from(sum, 'base64'))));
    const ofTags = createHash('md5').update(
      Buffer.concat(parts.map((part) => Buffer.from(part.etag.slice(1, -1), 'hex'))),
    );
    this.#open.delete(upload.uploadId);
    return upload.bucket.put(upload.key, {
      body: Buffer.concat(parts.map((part) => part.body)),
      metadata: upload.metadata,
      contentType: upload.contentType,
      etag: `"${ofTags.digest('hex')}-${parts.length}"`,
      checksumSha256: sums.length === parts.length ? `${ofSums.digest('base64')}-${parts.length}` : undefined,
    });
  }
}
