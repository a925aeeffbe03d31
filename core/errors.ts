/**
 * Failures, as six classes (architecture.md, "Errors"). Expected ends are values, not errors; what is thrown is one of these.
 *
 * `code` is dotted and stable: clients and alarms match on it. `details` may reach a client or a log, so it holds
 * names, limits, sizes and ids, never content.
 */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | null>>;

interface ErrorOptions_ {
  readonly details?: ErrorDetails;
  readonly cause?: unknown;
}

/** The root of our failures. `retryable` says whether the same call may succeed later without a change by the caller. */
export abstract class StillroomError extends Error {
  /** Written out, since a bundler shortens the names of classes. */
  abstract override readonly name: string;
  abstract readonly kind: 'invalid_input' | 'denied' | 'not_found' | 'conflict' | 'unavailable' | 'defect';
  abstract readonly retryable: boolean;
  readonly code: string;
  readonly details: ErrorDetails;

  constructor(code: string, message: string, options: ErrorOptions_ = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** The caller sent something that can never be accepted. The message names the field, the limit and what would be right. */
export class InvalidInputError extends StillroomError {
  override readonly name = 'InvalidInputError';
  readonly kind = 'invalid_input';
  readonly retryable = false;
}

/** The caller is not known, or may not do this. */
export class DeniedError extends StillroomError {
  override readonly name = 'DeniedError';
  readonly kind = 'denied';
  readonly retryable = false;
}

/** The named thing does not exist, or not for this user. */
export class NotFoundError extends StillroomError {
  override readonly name = 'NotFoundError';
  readonly kind = 'not_found';
  readonly retryable = false;
}

/** Somebody else changed the thing first, or it exists already. Nothing was written. */
export class ConflictError extends StillroomError {
  override readonly name = 'ConflictError';
  readonly kind = 'conflict';
  readonly retryable = false;
}

/** A dependency or a quota is out for now. `details.retry_after_ms`, where known, says how long to wait. */
export class UnavailableError extends StillroomError {
  override readonly name = 'UnavailableError';
  readonly kind = 'unavailable';
  readonly retryable = true;
}

/** A fault of ours: a broken invariant, an unreadable stored item. Never shown in detail to a client; raises an alarm. */
export class DefectError extends StillroomError {
  override readonly name = 'DefectError';
  readonly kind = 'defect';
  readonly retryable = true;
}

/** For the `default` of an exhaustive switch: the compiler proves that it is not reached. */
export function unreachable(value: never): never {
  throw new DefectError('core.unreachable', `unreachable value: ${JSON.stringify(value)}`);
}
