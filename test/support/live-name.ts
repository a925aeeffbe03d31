import { randomUUID } from 'node:crypto';

/** A name that nobody has; all of them begin alike, so that what a killed run left can be found. */
export function liveName(): string {
  return `stillroom-live-${randomUUID()}`;
}
