import { InvalidInputError } from '../errors.ts';
import { LIMITS } from '../settings.ts';
import { isBlank, utf8Length } from '../text.ts';
import { toStemTime } from '../time.ts';

const SUFFIX = '.md';
const SHAPE = 'YYYY-MM-DDTHH-MM-SS-<slug>.md';
const TIME_SHAPE = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-/;
const MADE_SLUG_CHARS = 40;

/**
 * Checks the file name of a note, in this order (behaviours N-22): size, ending, time, size of the slug, its characters. The
 * time is checked by its digits only.
 * @throws InvalidInputError `note.name_too_long`, `note.name_suffix`, `note.name_pattern`, `note.slug_length`, `note.slug_charset`
 */
export function checkNoteName(filename: string): void {
  if (utf8Length(filename) > LIMITS.noteNameBytes) {
    throw refuse('note.name_too_long', `must be at most ${LIMITS.noteNameBytes} bytes`);
  }
  if (!filename.endsWith(SUFFIX)) throw refuse('note.name_suffix', 'must end with .md');
  const stem = filename.slice(0, -SUFFIX.length);
  const time = TIME_SHAPE.exec(stem)?.[0];
  if (time === undefined || stem === time) throw refuse('note.name_pattern', `must look like ${SHAPE}`);
  const slug = stem.slice(time.length);
  if (utf8Length(slug) > LIMITS.noteSlugBytes) {
    throw refuse('note.slug_length', `must look like ${SHAPE} with a slug of at most ${LIMITS.noteSlugBytes} bytes`);
  }
  if (!/^[a-z0-9-]+$/.test(slug)) {
    throw refuse('note.slug_charset', `must look like ${SHAPE} with a slug of a-z, 0-9 and - only`);
  }
}

/**
 * Checks the text of a note.
 * @throws InvalidInputError `note.empty` (behaviours N-22; blank as in DV-4), `note.too_large`
 */
export function checkNoteText(note: string): void {
  if (isBlank(note)) {
    throw new InvalidInputError('note.empty', 'note must hold some text', { details: { field: 'note' } });
  }
  if (utf8Length(note) > LIMITS.noteBytes) {
    throw new InvalidInputError('note.too_large', `note must be at most ${LIMITS.noteBytes} bytes`, {
      details: { field: 'note', limit: LIMITS.noteBytes },
    });
  }
}

/**
 * Makes the file name of a note: its time and its first words, in ASCII; `note` where it has none.
 * @param note redacted text
 * @param now ms
 * @param number from 2: tells it from an earlier note of the same name
 */
export function makeNoteName(note: string, now: number, number = 1): string {
  const suffix = number > 1 ? `-${number}` : '';
  return `${toStemTime(now)}-${makeSlug(note)}${suffix}${SUFFIX}`;
}

function makeSlug(note: string): string {
  const words =
    note
      .slice(0, 1_000)
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  let slug = '';
  for (const word of words) {
    const longer = slug === '' ? word : `${slug}-${word}`;
    if (longer.length > MADE_SLUG_CHARS) break;
    slug = longer;
  }
  return slug || words[0]?.slice(0, MADE_SLUG_CHARS) || 'note';
}

function refuse(code: string, message: string): InvalidInputError {
  return new InvalidInputError(code, `filename ${message}`, { details: { field: 'filename' } });
}
