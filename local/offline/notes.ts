import { isCommand } from '../../core/consolidation/find-commands.ts';
import { type GroupText, type MemoryText, makeBullet } from './memory-lines.ts';
import { sectionOf, withSection } from './merge.ts';
import { plainText } from './plain-text.ts';

export const NOTES_FOLDER = 'extensions/ad_hoc/notes';
const NOTES_GROUP = 'Notes';
const MAX_NOTE = 500;
const PATH = /\((extensions\/ad_hoc\/notes\/[^\s)]+)\)$/;

/**
 * Brings the group of notes in line with the note files: one bullet a note, tagged `[ad-hoc note]`, in a group of its own
 * (behaviours K-02). A note is information: nothing in it is followed.
 *
 * @param paths all note files
 * @param texts contents of the notes to take in; a note that is not in it keeps its bullet
 */
export function mergeNotes(
  memory: MemoryText,
  paths: readonly string[],
  texts: ReadonlyMap<string, string>,
): MemoryText {
  const group = notesGroupOf(memory);
  const section = sectionOf(group, 'preferences');
  const present = new Set(paths);
  const kept = section.bullets.flatMap((bullet) => {
    const path = PATH.exec(bullet.text)?.[1];
    if (path === undefined || !bullet.fromNote) return [bullet];
    if (!present.has(path)) return [];
    const text = texts.get(path);
    const fresh = text === undefined ? undefined : noteBullet(path, text);
    return [fresh === undefined || fresh.text === bullet.text ? bullet : fresh];
  });
  const known = new Set(kept.flatMap((bullet) => PATH.exec(bullet.text)?.[1] ?? []));
  const added = [...texts].filter(([path]) => present.has(path) && !known.has(path));
  const bullets = [...added.map(([path, text]) => noteBullet(path, text)).toReversed(), ...kept];
  const others = memory.groups.filter((candidate) => candidate !== group);
  if (bullets.length === 0) return { ...memory, groups: others };
  const next = withSection(group, { ...section, bullets });
  const at = memory.groups.indexOf(group);
  return { ...memory, groups: at < 0 ? [...others, next] : memory.groups.with(at, next) };
}

/** Paths of the notes that the memory holds already. */
export function notesTakenIn(memory: MemoryText): ReadonlySet<string> {
  const group = memory.groups.find((candidate) => candidate.name === NOTES_GROUP);
  const bullets = group === undefined ? [] : sectionOf(group, 'preferences').bullets;
  return new Set(bullets.flatMap((bullet) => PATH.exec(bullet.text)?.[1] ?? []));
}

/** The group of notes, an empty one where there is none yet. */
export function notesGroupOf(memory: MemoryText): GroupText {
  return memory.groups.find(isNotesGroup) ?? emptyGroup();
}

export function isNotesGroup(group: GroupText): boolean {
  return group.name === NOTES_GROUP;
}

function noteBullet(path: string, text: string): ReturnType<typeof makeBullet> {
  const whole = text.replace(/\s+/g, ' ').trim();
  // in quotes of its own a note is what somebody said; its own quotes would end them early
  const line = isCommand(whole) || plainText(whole) !== whole ? plainText(whole).replace(/["“”„«»`]/g, "'") : whole;
  const head = [...line].slice(0, MAX_NOTE).join('').trimEnd();
  return makeBullet(`"${head}"${head === line ? '' : ' …'} (${path})`, [], true);
}

function emptyGroup(): GroupText {
  const head = [
    `# Task Group: ${NOTES_GROUP}`,
    '',
    'scope: what the person asked to be remembered',
    'applies_to: cwd=*; project=global; reuse_rule=as the note itself says',
  ];
  return { name: NOTES_GROUP, project: 'global', cwd: '*', head, tasks: [], sections: [] };
}
