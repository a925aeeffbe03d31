import { saveEdits } from '../core/control/save-edits.ts';
import { openVersion } from '../core/memory/memory-files.ts';
import type { Home } from './home.ts';
import { withFileLock } from './instance.ts';
import type { WorkingCopyChanges } from './working-copy.ts';

/** What was taken over from the working copy before anything else happened. */
export interface TakenEdits {
  /** Version made of the edits; null when there was nothing to take. */
  readonly version: number | null;
  readonly paths: readonly string[];
  /** Changed paths that are rebuilt anyway, and links: not taken over. */
  readonly ignored: readonly string[];
}

/**
 * Makes a version of what a person changed in `<home>/memories/`, so that nothing that follows can overwrite it, and brings the
 * copy up to date. One process at a time.
 */
export async function takeEdits(home: Home): Promise<TakenEdits> {
  return withWorkingCopy(home, async () => {
    const changes = await readChanges(home);
    if (changes === undefined || changes.edits.size === 0) {
      return { version: null, paths: [], ignored: changes?.ignored ?? [] };
    }
    const saved = await saveEdits(home, {
      userKey: home.userKey,
      baseVersion: changes.version,
      edits: changes.edits,
      actor: 'working-copy',
      now: home.clock.now(),
    });
    await replaceCopy(home, changes);
    const paths = [...changes.edits.keys()];
    return { version: saved.kind === 'saved' ? saved.version : null, paths, ignored: changes.ignored };
  });
}

/** Brings `<home>/memories/` to the current version where it is not; edits in it are taken over first. */
export async function refreshWorkingCopy(home: Home): Promise<void> {
  const head = await home.heads.read(home.userKey);
  if (head.version === 0 || (await home.workingCopy.version()) === head.version) return;
  await takeEdits(home);
  await withWorkingCopy(home, async () => replaceCopy(home, await readChanges(home)));
}

async function readChanges(home: Home): Promise<WorkingCopyChanges | undefined> {
  await home.workingCopy.recover();
  return home.workingCopy.readChanges((version) =>
    version === 0 ? Promise.resolve(undefined) : home.memories.manifest(home.userKey, version),
  );
}

async function replaceCopy(home: Home, seen: WorkingCopyChanges | undefined): Promise<void> {
  const current = await openVersion(home, home.userKey);
  if (current.version === 0) return;
  const files = new Map<string, Uint8Array>();
  for (const path of current.paths) files.set(path, await current.read(path));
  await home.workingCopy.replace(current.version, files, seen);
}

function withWorkingCopy<T>(home: Home, work: () => Promise<T>): Promise<T> {
  return withFileLock(`${home.instancesFolder}/working-copy.mutex`, work);
}
