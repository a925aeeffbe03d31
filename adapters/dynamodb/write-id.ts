import { randomBytes } from 'node:crypto';

/** A fresh id of a write: short, since items must stay under one write unit, and told only from a few others of one item. */
export function newWriteId(): string {
  return randomBytes(9).toString('base64url');
}
