import { InvalidInputError } from '../errors.ts';
import type { UploadToSign } from '../ports/upload-signer.ts';
import { LIMITS } from '../settings.ts';
import { MINUTE_MS } from '../time.ts';

/** How long a signed upload may begin. */
export const UPLOAD_VALID_MS = 15 * MINUTE_MS;

/**
 * Checks what a caller says of an upload before it is signed.
 * @throws InvalidInputError `rollout.too_large`, `rollout.invalid_sha256`
 */
export function requireUpload({ bytes, sha256 }: Pick<UploadToSign, 'bytes' | 'sha256'>): void {
  if (bytes !== null && bytes > LIMITS.rolloutBytes) {
    throw new InvalidInputError('rollout.too_large', `bytes must be at most ${LIMITS.rolloutBytes}`, {
      details: { field: 'bytes', limit_bytes: LIMITS.rolloutBytes },
    });
  }
  if (sha256 !== null && !/^[0-9a-f]{64}$/.test(sha256)) {
    throw new InvalidInputError('rollout.invalid_sha256', 'sha256 must be 64 lower-case hex digits', {
      details: { field: 'sha256' },
    });
  }
}
