import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';

const ROOT = resolve(import.meta.dirname, '../..');

const CANDIDATES = ['../shared/data/rollouts', '../../shared/data/rollouts'].map((path) => join(ROOT, path));

/** The folder of real rollouts beside the repository; undefined where there is none. */
export function findSharedRollouts(): string | undefined {
  return CANDIDATES.find((path) => existsSync(path));
}

/**
 * The folder of real rollouts that lies beside the repository where the project's checks run. They are not ours to publish,
 * so tests read them in place.
 * @throws Error that says what is needed where the folder is missing
 */
export function sharedRolloutsFolder(): string {
  const found = findSharedRollouts();
  if (found === undefined) {
    throw new Error(`these tests need the folder of real rollouts beside the repository: ${CANDIDATES[0]}`);
  }
  return found;
}

/** The bytes of the shared rollout whose name starts so, unpacked. @throws Error where there is none */
export function loadSharedRollout(prefix: string): Uint8Array {
  const folder = sharedRolloutsFolder();
  const name = readdirSync(folder).find((each) => each.startsWith(`${prefix}-`));
  if (name === undefined) throw new Error(`no shared rollout starts with ${prefix}`);
  const bytes = readFileSync(join(folder, name));
  if (name.endsWith('.zst')) return zstdDecompressSync(bytes);
  return name.endsWith('.gz') ? gunzipSync(bytes) : bytes;
}
