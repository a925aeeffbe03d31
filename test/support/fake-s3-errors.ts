import { NoSuchKey, NotFound, S3ServiceException } from '@aws-sdk/client-s3';

/** An answer of S3 that is a failure, as the SDK throws it. */
export function s3Error(name: string, status: number, message = name): S3ServiceException {
  return new S3ServiceException({
    name,
    message,
    $fault: status < 500 ? 'client' : 'server',
    $metadata: { httpStatusCode: status, attempts: 1 },
  });
}

/** 404 of a read; behind a delete marker S3 says so in a header. */
export function noSuchKey(behindMarker: boolean): NoSuchKey {
  return withMarkerHeader(
    new NoSuchKey({ message: 'The specified key does not exist.', $metadata: { httpStatusCode: 404 } }),
    behindMarker,
  );
}

/** 404 of a HEAD, which has no body and therefore no code. */
export function notFound(behindMarker: boolean): NotFound {
  return withMarkerHeader(new NotFound({ message: 'UnknownError', $metadata: { httpStatusCode: 404 } }), behindMarker);
}

function withMarkerHeader<E extends S3ServiceException>(error: E, behindMarker: boolean): E {
  const headers: Record<string, string> = behindMarker ? { 'x-amz-delete-marker': 'true' } : {};
  Object.defineProperty(error, '$response', { value: { statusCode: 404, headers }, enumerable: false });
  return error;
}

/** 503: too many requests under one prefix. */
export const slowDown = (): S3ServiceException => s3Error('SlowDown', 503);

/** 409: another conditional write of the key is under way. */
export const conditionalConflict = (): S3ServiceException => s3Error('ConditionalRequestConflict', 409);

/** The connection broke. */
export const connectionReset = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

/** What the request handler throws when its time limit passes. */
export const requestTimeout = (): Error => Object.assign(new Error('request timed out'), { name: 'TimeoutError' });

export const aborted = (): Error => Object.assign(new Error('Request aborted'), { name: 'AbortError' });
