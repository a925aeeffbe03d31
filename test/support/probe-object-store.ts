import { randomUUID } from 'node:crypto';
import { DeleteObjectCommand, PutObjectCommand, type S3Client, S3ServiceException } from '@aws-sdk/client-s3';

/**
 * Proves that an object store honours what publishing rests on, before any test trusts it: creating an object that is there
 * is refused with 412, and every write answers a version id (user case C28). Leaves nothing behind where it passes.
 * @throws Error that says what is not honoured
 */
export async function probeObjectStore(client: S3Client, bucket: string): Promise<void> {
  const object = { Bucket: bucket, Key: `probe/${randomUUID()}` };
  const create = () => client.send(new PutObjectCommand({ ...object, Body: 'probe', IfNoneMatch: '*' }));
  const { VersionId } = await create();
  const second = await create().then(
    () => 'was accepted',
    (error: unknown) => (statusOf(error) === 412 ? undefined : `ended with ${String(error)}`),
  );
  await client.send(new DeleteObjectCommand({ ...object, VersionId }));
  if (VersionId === undefined) throw new Error(`the object store keeps no versions in bucket ${bucket}`);
  if (second !== undefined) throw new Error(`the object store ignores If-None-Match: a second create ${second}`);
}

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}
