import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { FileEntry } from '../../core/consolidation/manifest.ts';
import type { FileLinks } from '../../core/ports/file-links.ts';
import { LIMITS } from '../../core/settings.ts';
import { SECOND_MS } from '../../core/time.ts';
import { memoryKey } from './keys.ts';
import { readRequest } from './object-requests.ts';

/** Presigned GETs of one version of one object. Signing makes no call. */
export class S3FileLinks implements FileLinks {
  readonly #client: S3Client;
  readonly #bucket: string;

  constructor(client: S3Client, bucket: string) {
    this.#client = client;
    this.#bucket = bucket;
  }

  async link(userKey: string, path: string, entry: FileEntry): Promise<string> {
    const place = { bucket: this.#bucket, key: memoryKey(userKey, path) };
    const request = {
      ...readRequest(place, entry.versionId),
      ResponseContentType: path.endsWith('.md') ? 'text/markdown; charset=utf-8' : 'application/octet-stream',
      ResponseCacheControl: 'no-store',
    };
    return getSignedUrl(this.#client, new GetObjectCommand(request), { expiresIn: LIMITS.linkMs / SECOND_MS });
  }
}
