import { randomUUID } from 'node:crypto';
import type { TokenSource } from '../../core/ports/token-source.ts';

/** Random UUIDs, version 4. */
export class RandomTokenSource implements TokenSource {
  next(): string {
    return randomUUID();
  }
}
