import { DefectError, type ErrorDetails, StillroomError, UnavailableError } from '../../core/errors.ts';

const THROTTLED = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'Throttling',
  'TooManyRequestsException',
]);
const UNAVAILABLE = new Set([
  'AbortError',
  'InternalServerError',
  'InternalServerErrorException',
  'InternalFailure',
  'ReplicatedWriteConflictException',
  'RequestTimeout',
  'RequestTimeoutException',
  'ServiceUnavailable',
  'ServiceUnavailableException',
  'TimeoutError',
  'TransactionConflictException',
  'TransactionInProgressException',
]);
const DENIED = new Set([
  'AccessDeniedException',
  'CredentialsProviderError',
  'ExpiredTokenException',
  'IncompleteSignatureException',
  'InvalidSignatureException',
  'MissingAuthenticationTokenException',
  'UnrecognizedClientException',
]);
/** Node's names for a connection that failed. */
const BROKEN_CONNECTION =
  /^(E(AI_AGAIN|CONN(ABORTED|REFUSED|RESET)|HOSTUNREACH|NETUNREACH|NOTFOUND|PIPE|TIMEDOUT)|UND_ERR_\w+)$/;

/** True when a write was refused because its condition did not hold; nothing was written by that attempt. */
export function isConditionFailed(error: unknown): boolean {
  return error instanceof Error && error.name === 'ConditionalCheckFailedException';
}

/**
 * Turns what the SDK threw into one of our failures. The SDK's message and its error as a cause are left behind: they may
 * quote what was written.
 * @returns UnavailableError `table.throttled`, `table.unavailable`; DefectError `table.denied`, `table.missing`,
 * `table.request_refused`, `table.failed`
 */
export function mapTableFailure(error: unknown): StillroomError {
  if (error instanceof StillroomError) return error;
  const details = describe(error);
  const name = typeof details['aws_error'] === 'string' ? details['aws_error'] : '';
  if (THROTTLED.has(name)) return new UnavailableError('table.throttled', 'the table is throttled', { details });
  if (UNAVAILABLE.has(name) || isServerFault(error) || BROKEN_CONNECTION.test(codeOf(error) ?? '')) {
    return new UnavailableError('table.unavailable', 'the table did not answer', { details });
  }
  if (DENIED.has(name))
    return new DefectError('table.denied', 'this function may not do that to the table', { details });
  if (name === 'ResourceNotFoundException') {
    return new DefectError('table.missing', 'the table or its index does not exist', { details });
  }
  if (name === 'ValidationException') {
    return new DefectError('table.request_refused', 'the table refused the form of a request', { details });
  }
  return new DefectError('table.failed', 'the table failed', { details });
}

/** The part of an answer that was not processed did not get smaller: the table has no capacity left for it. */
export function throttled(left: number): UnavailableError {
  return new UnavailableError('table.throttled', 'the table is throttled', { details: { left } });
}

/**
 * Says which attribute of a stored item cannot be read, never what is in it.
 * @param kind of item, such as `stage1`
 */
export function unreadableItem(kind: string, attribute: string): DefectError {
  return new DefectError('table.item_unreadable', `the table holds an unreadable value in ${kind}.${attribute}`, {
    details: { item: kind, attribute },
  });
}

function describe(error: unknown): ErrorDetails {
  const code = codeOf(error);
  const name = error instanceof Error ? error.name : 'unknown';
  const metadata = metadataOf(error);
  return {
    aws_error: name,
    ...(code === undefined ? {} : { connection: code }),
    ...(metadata?.httpStatusCode === undefined ? {} : { status: metadata.httpStatusCode }),
    ...(metadata?.requestId === undefined ? {} : { request_id: metadata.requestId }),
  };
}

function isServerFault(error: unknown): boolean {
  return (metadataOf(error)?.httpStatusCode ?? 0) >= 500;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function metadataOf(error: unknown): { readonly httpStatusCode?: number; readonly requestId?: string } | undefined {
  if (!(error instanceof Error) || !('$metadata' in error)) return undefined;
  const found = error.$metadata;
  if (typeof found !== 'object' || found === null) return undefined;
  return {
    ...('httpStatusCode' in found && typeof found.httpStatusCode === 'number'
      ? { httpStatusCode: found.httpStatusCode }
      : {}),
    ...('requestId' in found && typeof found.requestId === 'string' ? { requestId: found.requestId } : {}),
  };
}
