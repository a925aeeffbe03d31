import { listPendingNotes } from '../../core/consolidation/pending-notes.ts';
import { StillroomError } from '../../core/errors.ts';
import { openVersion } from '../../core/memory/memory-files.ts';
import { decodeUtf8 } from '../../core/text.ts';
import { type Stores, USER } from './function-deps.ts';

const SUMMARY = 'memory_summary.md';

/**
 * Looks at the memory as a reader does: every file that the current version names is there as named, and the head tells the same
 * as the files.
 * @returns what is not whole; undefined when all is
 */
export async function checkWhole(stores: Stores): Promise<string | undefined> {
  try {
    const { head, paths, read, manifest } = await openVersion(stores, USER);
    const texts = new Map<string, string>();
    for (const path of paths) texts.set(path, decodeUtf8(await read(path)));
    if (head.summary !== (texts.get(SUMMARY) ?? '')) return 'torn: the head tells another summary than its version';
    const pending = listPendingNotes(paths, manifest?.notesConsumed ?? []);
    const told = head.pendingNotes.map((note) => note.path);
    return told.join() === pending.join() ? undefined : 'torn: the head tells other notes than its version';
  } catch (error) {
    return `torn: ${error instanceof StillroomError ? error.code : String(error)}`;
  }
}
