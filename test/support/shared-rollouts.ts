import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * The folder of real rollouts that lies beside the repository where the project's checks run. They are not ours to publish,
 * so tests read them in place.
 * @throws Error that says what is needed where the folder is missing
 */
export function sharedRolloutsFolder(): string {
  const candidates = ['../shared/data/rollouts', '../../shared/data/rollouts'].map((path) => join(ROOT, path));
  const found = candidates.find((path) => existsSync(path));
  if (found === undefined) {
    throw new Error(`these tests need the folder of real rollouts beside the repository: ${candidates[0]}`);
  }
  return found;
}
