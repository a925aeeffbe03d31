import { LIMITS } from '../settings.ts';
import { charBoundaryBefore, compareBytes, decodeUtf8 } from '../text.ts';
import type { PendingNote } from './manifest.ts';

/** Where notes lie in a memory (behaviours N-21). */
export const NOTES_FOLDER = 'extensions/ad_hoc/notes/';

/** Paths of notes among `paths` that are not in `consumed`, in byte order. */
export function listPendingNotes(paths: Iterable<string>, consumed: readonly string[]): readonly string[] {
  const known = new Set(consumed);
  return [...paths].filter((path) => path.startsWith(NOTES_FOLDER) && !known.has(path)).sort(compareBytes);
}

/** What a reader is shown of a note before a consolidation took it in: its start, cut on a character boundary. */
export function previewNote(path: string, content: Uint8Array): PendingNote {
  return { path, text: decodeUtf8(content.subarray(0, charBoundaryBefore(content, LIMITS.pendingNoteBytes))) };
}
