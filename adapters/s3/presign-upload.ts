import { PutObjectCommand, type PutObjectCommandInput, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { requireThreadId } from '../../core/ids.ts';
import type { SignedUpload, UploadSigner, UploadToSign } from '../../core/ports/upload-signer.ts';
import { requireUpload, UPLOAD_VALID_MS } from '../../core/thread/upload-limits.ts';
import { rolloutKey } from './keys.ts';
import type { ObjectPlace } from './object-requests.ts';
import { toMetadata } from './upload-metadata.ts';

/**
 * The upload that is signed, as a request and as the headers that the uploader must send. Pure.
 * With a checksum S3 itself refuses other bytes; with a size, it refuses every other length.
 */
export function uploadRequest(
  place: ObjectPlace,
  threadId: string,
  upload: UploadToSign,
): { readonly input: PutObjectCommandInput; readonly headers: Readonly<Record<string, string>> } {
  const { bytes, hints, sha256 } = upload;
  const metadata = toMetadata({ threadId, hints, sha256 });
  const checksum = sha256 === null ? undefined : Buffer.from(sha256, 'hex').toString('base64');
  const input = {
    Bucket: place.bucket,
    Key: place.key,
    Metadata: metadata,
    ...(checksum === undefined ? {} : { ChecksumSHA256: checksum }),
    ...(bytes === null ? {} : { ContentLength: bytes }),
  };
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(metadata)) headers[`x-amz-meta-${name}`] = value;
  if (checksum !== undefined) headers['x-amz-checksum-sha256'] = checksum;
  if (bytes !== null) headers['content-length'] = String(bytes);
  return { input, headers };
}

/** Presigned PUTs: the signature covers key, headers and expiry, so none of them can be changed. */
export class S3UploadSigner implements UploadSigner {
  readonly #client: S3Client;
  readonly #bucket: string;

  constructor(client: S3Client, bucket: string) {
    this.#client = client;
    this.#bucket = bucket;
  }

  async sign(userKey: string, threadId: string, upload: UploadToSign): Promise<SignedUpload> {
    const place = { bucket: this.#bucket, key: rolloutKey(userKey, requireThreadId(threadId)) };
    requireUpload(upload);
    const { input, headers } = uploadRequest(place, threadId, upload);
    // Left to itself the signer moves these into the address, where S3 does not check that the upload carries them.
    const bound = new Set(Object.keys(headers));
    const url = await getSignedUrl(this.#client, new PutObjectCommand(input), {
      expiresIn: UPLOAD_VALID_MS / 1_000,
      signingDate: new Date(upload.now),
      unhoistableHeaders: bound,
      signableHeaders: new Set([...bound, 'host']),
    });
    return { method: 'PUT', url, headers, expiresAt: upload.now + UPLOAD_VALID_MS };
  }
}
