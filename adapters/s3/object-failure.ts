import { S3ServiceException } from '@aws-sdk/client-s3';
import { UnavailableError } from '../../core/errors.ts';

export type ObjectFailureCode =
  | 'memory.read_failed'
  | 'memory.write_failed'
  | 'replay.read_failed'
  | 'replay.write_failed'
  | 'rollout.read_failed'
  | 'rollout.write_failed'
  | 'traces.read_failed'
  | 'traces.write_failed';

const MESSAGES: Readonly<Record<ObjectFailureCode, string>> = {
  'memory.read_failed': 'the object store did not give a file of the memory',
  'memory.write_failed': 'the object store did not take a change of the memory',
  'replay.read_failed': 'the object store did not give the record of a run',
  'replay.write_failed': 'the object store did not take a change of the records of runs',
  'rollout.read_failed': 'the object store did not give the rollout',
  'rollout.write_failed': 'the object store did not take the rollout',
  'traces.read_failed': 'the object store did not list what it keeps',
  'traces.write_failed': 'the object store did not delete all it keeps',
};

/** HTTP status of what S3 answered; undefined where no answer came (a reset, a time limit). */
export function statusOf(cause: unknown): number | undefined {
  return cause instanceof S3ServiceException ? cause.$metadata.httpStatusCode : undefined;
}

/**
 * True where S3 says that there is no such object or version: 404, a version that is a delete marker (405), or a version id
 * that S3 never gave (400 InvalidArgument). A missing bucket is none of these: that is a fault of the deployment.
 */
export function isGone(cause: unknown): boolean {
  if (!(cause instanceof S3ServiceException) || cause.name === 'NoSuchBucket') return false;
  const status = statusOf(cause);
  return status === 404 || status === 405 || (status === 400 && cause.name === 'InvalidArgument');
}

/** True where the write may have been applied all the same: no answer, or one of a fault inside S3. */
export function isAmbiguous(cause: unknown): boolean {
  const status = statusOf(cause);
  return status === undefined || status >= 500;
}

/** A failed call as ours. What S3 answered is told by its code only: its messages and fields name keys. */
export function objectFailure(code: ObjectFailureCode, cause: unknown): UnavailableError {
  if (!(cause instanceof S3ServiceException)) {
    return new UnavailableError(code, MESSAGES[code], { details: { system_code: systemCode(cause) }, cause });
  }
  const { httpStatusCode, requestId } = cause.$metadata;
  return new UnavailableError(code, MESSAGES[code], {
    details: { service_code: cause.name, status: httpStatusCode ?? null, request_id: requestId ?? null },
  });
}

/** S3 took the call, but not every deletion in it. */
export function refusedDeletes(code: ObjectFailureCode, refused: number): UnavailableError {
  return new UnavailableError(code, MESSAGES[code], { details: { refused } });
}

/** Runs one call; its failure becomes an UnavailableError with the code. */
export async function attempt<T>(code: ObjectFailureCode, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw objectFailure(code, cause);
  }
}

function systemCode(cause: unknown): string | null {
  if (!(cause instanceof Error)) return null;
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
}
