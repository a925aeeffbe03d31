import { addNote, type NoteAnswer, type NoteRequest } from '../core/memory/add-note.ts';
import { type CitationAnswer, recordCitation } from '../core/memory/record-citation.ts';
import type { Home } from './home.ts';

/** Adds a note to a home's memory (see `addNote`). */
export function addLocalNote(home: Home, request: NoteRequest): Promise<NoteAnswer> {
  return addNote(home, home.userKey, { ...request, actor: 'cli' });
}

/** Makes failed and exhausted extractions due again at the next run. @returns the threads revived */
export function redrive(home: Home): Promise<readonly string[]> {
  return home.jobs.redrive(home.userKey);
}

/** Counts the citations of an assistant's answer (see `recordCitation`). */
export function citeAnswer(home: Home, text: string): Promise<CitationAnswer> {
  return recordCitation(home, home.userKey, { source: { text } });
}
