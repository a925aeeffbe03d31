import { AbortMultipartUploadCommand, ListMultipartUploadsCommand, type S3Client } from '@aws-sdk/client-s3';
import { DefectError } from '../../core/errors.ts';
import { NO_TRACES, type TraceCounts, type UserTraces } from '../../core/ports/user-traces.ts';
import { attempt, isGone, objectFailure } from './object-failure.ts';
import { deleteAllOrFail, type ListScope, listVersionsPage } from './object-listing.ts';

export interface S3UserTracesOptions {
  readonly bucket: string;
  /** Where everything of a user lies; ends in `/`. */
  readonly prefixOf: (userKey: string) => string;
}

interface UnfinishedUpload {
  readonly key: string;
  readonly uploadId: string;
}

/**
 * What one bucket keeps of a user: versions, delete markers, and uploads that were never completed, whose parts are contents as
 * well. An unfinished upload counts as one version.
 */
export class S3UserTraces implements UserTraces {
  readonly #client: S3Client;
  readonly #options: S3UserTracesOptions;

  constructor(client: S3Client, options: S3UserTracesOptions) {
    this.#client = client;
    this.#options = options;
  }

  async count(userKey: string): Promise<TraceCounts> {
    const scope = this.#scope(userKey, 'traces.read_failed');
    const keys = new Set<string>();
    let versions = 0;
    let next: Awaited<ReturnType<typeof listVersionsPage>>['next'];
    do {
      const page = await listVersionsPage(this.#client, scope, next);
      for (const version of page.versions) keys.add(version.key);
      versions += page.versions.length;
      next = page.next;
    } while (next !== undefined);
    const uploads = await this.#uploads(scope);
    for (const upload of uploads) keys.add(upload.key);
    return { ...NO_TRACES, objects: keys.size, versions: versions + uploads.length };
  }

  /** @throws UnavailableError `traces.write_failed`; a later call goes on from there */
  async erase(userKey: string): Promise<TraceCounts> {
    const scope = this.#scope(userKey, 'traces.write_failed');
    const keys = new Set<string>();
    let versions = 0;
    const uploads = await this.#uploads(scope);
    for (const upload of uploads) {
      await this.#abort(scope, upload);
      keys.add(upload.key);
    }
    // What was deleted is no longer listed: the first page is always what is left.
    for (;;) {
      const page = await listVersionsPage(this.#client, scope);
      if (page.versions.length === 0) return { ...NO_TRACES, objects: keys.size, versions: versions + uploads.length };
      await deleteAllOrFail(this.#client, scope, page.versions);
      for (const version of page.versions) keys.add(version.key);
      versions += page.versions.length;
    }
  }

  async #uploads(scope: ListScope): Promise<readonly UnfinishedUpload[]> {
    const found: UnfinishedUpload[] = [];
    let after: object = {};
    for (;;) {
      const request = { Bucket: scope.bucket, Prefix: scope.prefix, ...after };
      const page = await attempt(scope.failureCode, () => this.#client.send(new ListMultipartUploadsCommand(request)));
      for (const { Key, UploadId } of page.Uploads ?? [])
        if (Key !== undefined && UploadId !== undefined) found.push({ key: Key, uploadId: UploadId });
      if (page.IsTruncated !== true) return found;
      after = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
    }
  }

  async #abort(scope: ListScope, { key, uploadId }: UnfinishedUpload): Promise<void> {
    const request = { Bucket: scope.bucket, Key: key, UploadId: uploadId };
    await this.#client.send(new AbortMultipartUploadCommand(request)).catch((cause: unknown) => {
      if (!isGone(cause)) throw objectFailure(scope.failureCode, cause); // gone: its uploader completed or gave it up just now
    });
  }

  #scope(userKey: string, failureCode: ListScope['failureCode']): ListScope {
    const prefix = this.#options.prefixOf(userKey);
    // Without a user or an end the prefix would reach other users: `user1` begins `user10`, and nothing begins everything.
    if (userKey === '' || !prefix.endsWith(`${userKey}/`)) {
      throw new DefectError('traces.open_prefix', "a user's prefix must end in the user key and a slash");
    }
    return { bucket: this.#options.bucket, prefix, failureCode };
  }
}
