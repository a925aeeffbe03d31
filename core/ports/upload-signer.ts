import type { UploadHints } from '../thread/thread.ts';

/** A rollout that somebody wants to upload by themselves. */
export interface UploadToSign {
  /** Exact size, bytes; null = not said. */
  readonly bytes: number | null;
  /** Lower-case hex SHA-256 of the bytes to come; null = not said. */
  readonly sha256: string | null;
  readonly hints: UploadHints;
  readonly now: number;
}

/** A request that the uploader makes as it is: what it says of itself cannot be changed. */
export interface SignedUpload {
  readonly method: 'PUT';
  readonly url: string;
  /** To be sent with the upload, all of them. */
  readonly headers: Readonly<Record<string, string>>;
  /** From then on it is refused, ms. */
  readonly expiresAt: number;
}

/** Lets a caller upload one rollout to the place of its thread without passing it through us. */
export interface UploadSigner {
  /**
   * Bound to user, thread, hints, and, where they are said, size and checksum. Valid for 15 minutes. Makes no call.
   * @throws InvalidInputError `thread.invalid_id`, `rollout.too_large`, `rollout.invalid_sha256`
   */
  sign(userKey: string, threadId: string, upload: UploadToSign): Promise<SignedUpload>;
}
