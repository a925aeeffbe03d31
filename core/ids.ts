import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { InvalidInputError } from './errors.ts';

const encoder = new TextEncoder();
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const THREAD_ID = /^[A-Za-z0-9._-]{1,128}$/;
const PLAIN_USER_KEY = /^[A-Za-z0-9._-]{1,128}$/;
const ENCODED_USER_KEY = /^~[A-Za-z0-9_-]{1,127}$/;
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Lower-case hex SHA-256 of a text's UTF-8 bytes, or of bytes. */
export function sha256Hex(content: string | Uint8Array): string {
  return bytesToHex(sha256(typeof content === 'string' ? encoder.encode(content) : content));
}

/** True for the text form of a UUID, any version, any case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** True for `[A-Za-z0-9._-]{1,128}` other than `.` and `..`, which would be steps in a path (api.md, `thread_id`). */
export function isThreadId(text: string): boolean {
  return THREAD_ID.test(text) && text !== '.' && text !== '..';
}

/**
 * Checks a thread id.
 * @throws InvalidInputError `thread.invalid_id`
 */
export function requireThreadId(text: string): string {
  if (isThreadId(text)) return text;
  throw new InvalidInputError('thread.invalid_id', 'thread_id must be 1 to 128 characters of A-Z a-z 0-9 . _ -', {
    details: { field: 'thread_id', limit: 128 },
  });
}

/**
 * The storage form of a user id (storage.md, "Identity"): the id itself where it is a plain key, else `~` + base64url of
 * its UTF-8 bytes, or `~h` + hex SHA-256 where that would exceed 128 characters. One-to-one and stable.
 * @throws InvalidInputError `user.empty_id`
 */
export function toUserKey(userId: string): string {
  if (userId === '')
    throw new InvalidInputError('user.empty_id', 'user id must not be empty', { details: { field: 'user_id' } });
  if (PLAIN_USER_KEY.test(userId) && userId !== '.' && userId !== '..') return userId;
  const encoded = `~${toBase64Url(encoder.encode(userId))}`;
  return encoded.length <= 128 ? encoded : `~h${sha256Hex(userId)}`;
}

/** True for the storage form of some user id: what a message, an event or a stored key may name. */
export function isUserKey(text: string): boolean {
  return ENCODED_USER_KEY.test(text) || (PLAIN_USER_KEY.test(text) && text !== '.' && text !== '..');
}

function toBase64Url(bytes: Uint8Array): string {
  let out = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const chunk = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    const digits = Math.min(4, bytes.length - at + 1);
    for (let digit = 0; digit < digits; digit++) out += BASE64URL[(chunk >> (18 - 6 * digit)) & 63];
  }
  return out;
}
