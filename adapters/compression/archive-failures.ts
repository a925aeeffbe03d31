import { InvalidInputError } from '../../core/errors.ts';

/** The archive ends in the middle. */
export function truncatedArchive(cause?: unknown): InvalidInputError {
  return new InvalidInputError('rollout.truncated', 'the compressed rollout is cut off; upload the whole file again', {
    cause,
  });
}

/** The archive is damaged, or packed in a way that is not understood. */
export function unreadableArchive(cause?: unknown): InvalidInputError {
  return new InvalidInputError('rollout.unreadable', 'the compressed rollout is damaged; upload the file again', {
    cause,
  });
}

/** The rollout expands over what is read of one file. */
export function tooLargeRollout(limitBytes: number): InvalidInputError {
  return new InvalidInputError('rollout.too_large', `the rollout must not expand over ${limitBytes} bytes`, {
    details: { limit_bytes: limitBytes },
  });
}
