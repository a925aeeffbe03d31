import type { HistoryCut } from '../core/control/forget-in-history.ts';
import { type Forgotten, forgetThread } from '../core/control/forget-thread.ts';
import { type Restored, restoreVersion } from '../core/control/restore-version.ts';
import { addNote, type NoteAnswer, type NoteRequest } from '../core/memory/add-note.ts';
import { type CitationAnswer, recordCitation } from '../core/memory/record-citation.ts';
import type { Home } from './home.ts';
import { refreshWorkingCopy, takeEdits } from './sync-working-copy.ts';

/** Adds a note to a home's memory (see `addNote`). */
export function addLocalNote(home: Home, request: NoteRequest): Promise<NoteAnswer> {
  return addNote(home, home.userKey, { ...request, actor: 'cli' });
}

export interface LocalRestore extends Restored {
  /** The version that was made of what lay changed in the working copy; null where nothing did. */
  readonly edits_version: number | null;
}

/**
 * Makes a former version the present one again (see `restoreVersion`). What was changed by hand in the working copy becomes a
 * version of its own before, so that it can be gone back to.
 */
export async function restoreLocal(home: Home, version: number): Promise<LocalRestore> {
  const edits = await takeEdits(home);
  const restored = await restoreVersion(home, home.userKey, { version, actor: 'cli' });
  await refreshWorkingCopy(home);
  return { ...restored, edits_version: edits.version };
}

/**
 * Forgets a thread (see `forgetThread`). What was changed by hand in the working copy becomes a version before, so that nothing of
 * it is lost, and the working copy follows.
 */
export async function forgetLocal(home: Home, threadId: string, history: HistoryCut): Promise<Forgotten> {
  await takeEdits(home);
  const forgotten = await forgetThread(home, home.userKey, threadId, history);
  await refreshWorkingCopy(home);
  return forgotten;
}

/** Makes failed and exhausted extractions due again at the next run. @returns the threads revived */
export function redrive(home: Home): Promise<readonly string[]> {
  return home.jobs.redrive(home.userKey);
}

/** Counts the citations of an assistant's answer (see `recordCitation`). */
export function citeAnswer(home: Home, text: string): Promise<CitationAnswer> {
  return recordCitation(home, home.userKey, { source: { text } });
}
