import { InvalidInputError } from '../errors.ts';
import { sha256Hex } from '../ids.ts';
import { toFileTime } from '../time.ts';
import { type ErasePorts, eraseUser } from './erase-user.ts';

/** What a user keeps as the proof of an erasure, as the wire shows it. */
export interface EraseReceipt {
  readonly erased_at: string;
  /** What was removed. Messages that wait in a queue hold ids only, find nothing when their turn comes, and are not counted. */
  readonly counts: {
    readonly objects: number;
    readonly versions: number;
    readonly items: number;
    readonly messages: number;
  };
  /** Hex SHA-256 of the JSON text `{"user_id":…,"erased_at":…,"counts":{…}}`: who holds the receipt can prove what it is about. */
  readonly sha256: string;
}

/**
 * Erases a user on their own word (`POST /v1/erase`; user case B12).
 * @param request.confirm must be the user's own id, exactly
 * @throws InvalidInputError `erase.not_confirmed`: nothing was touched; UnavailableError `erase.incomplete`, `erase.runs_in_flight`
 */
export async function eraseWithReceipt(
  ports: ErasePorts,
  request: { readonly userKey: string; readonly userId: string; readonly confirm: string },
): Promise<EraseReceipt> {
  if (request.userId === '' || request.confirm !== request.userId) {
    throw new InvalidInputError('erase.not_confirmed', 'confirm must be your own user id, exactly', {
      details: { field: 'confirm' },
    });
  }
  const { objects, versions, items } = await eraseUser(ports, request.userKey);
  const told = { erased_at: toFileTime(ports.clock.now()), counts: { objects, versions, items, messages: 0 } };
  return { ...told, sha256: sha256Hex(JSON.stringify({ user_id: request.userId, ...told })) };
}
