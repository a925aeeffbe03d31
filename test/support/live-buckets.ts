import {
  AbortMultipartUploadCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectsCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll } from 'vitest';
import { createObjectClient } from '../../adapters/s3/client.ts';
import { liveName } from './live-name.ts';

/** Buckets at the endpoint. */
export interface LiveBuckets {
  readonly client: S3Client;
  /** An empty bucket that keeps versions. @returns its name */
  make(): Promise<string>;
}

/** Buckets of the test file, removed after it with all they hold. Call it outside of tests. */
export function liveBuckets(): LiveBuckets {
  const client = createObjectClient();
  const made: string[] = [];
  afterAll(async () => {
    for (const Bucket of made) {
      await emptyBucket(client, Bucket);
      await client.send(new DeleteBucketCommand({ Bucket }));
    }
    client.destroy();
  });
  return {
    client,
    make: async () => {
      const Bucket = liveName();
      await client.send(new CreateBucketCommand({ Bucket, ...(await placeOf(client)) }));
      made.push(Bucket);
      const versioning = { Bucket, VersioningConfiguration: { Status: 'Enabled' } } as const;
      await client.send(new PutBucketVersioningCommand(versioning));
      return Bucket;
    },
  };
}

/** The one region that S3 does not want to be told. */
async function placeOf(client: S3Client): Promise<object> {
  const region = await client.config.region();
  return region === 'us-east-1' ? {} : { CreateBucketConfiguration: { LocationConstraint: region } };
}

async function emptyBucket(client: S3Client, Bucket: string): Promise<void> {
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
  for (const { Key, UploadId } of Uploads)
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
  for (;;) {
    const { Versions = [], DeleteMarkers = [] } = await client.send(new ListObjectVersionsCommand({ Bucket }));
    const Objects = [...Versions, ...DeleteMarkers].map(({ Key, VersionId }) => ({ Key, VersionId }));
    if (Objects.length === 0) return;
    await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
  }
}
