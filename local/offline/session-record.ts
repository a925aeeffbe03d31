import { coreWords } from './commands.ts';
import { harmlessText } from './plain-text.ts';
import { isSameWish, readStance, replaces } from './stance.ts';

export type LessonKind = 'preferences' | 'knowledge' | 'failures';

/** One thing worth keeping, in the words of its rollout summary. */
export interface Lesson {
  readonly kind: LessonKind;
  readonly text: string;
}

/** A rollout summary file, read: its head (behaviours H-02) and its lessons. */
export interface SessionRecord {
  readonly path: string;
  readonly threadId: string;
  /** File time as it stands in the head. */
  readonly updatedAt: string;
  readonly rolloutPath: string;
  readonly cwd: string;
  readonly project: string;
  readonly title: string;
  readonly keywords: readonly string[];
  readonly lessons: readonly Lesson[];
}

const LISTS: Readonly<Record<string, LessonKind>> = {
  'Preference signals:': 'preferences',
  'Reusable knowledge:': 'knowledge',
  'Failures and how to do differently:': 'failures',
};
const MAX_KEYWORDS = 8;
const MAX_TITLE = 110;

/**
 * Reads a rollout summary file: one record for each project that its tasks were done in, the session's own first (A13).
 * @param project of the session, where it is known from elsewhere
 * @returns none when it has no thread id at its head
 */
export function readRecords(path: string, text: string, project: string | null): readonly SessionRecord[] {
  const [head = '', ...rest] = text.split('\n\n');
  const body = rest.join('\n\n');
  const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(head)?.[1]?.trim() ?? '';
  const threadId = field('thread_id');
  if (threadId === '') return [];
  const cwd = field('cwd') || UNKNOWN;
  const [opening = '', ...tasks] = body.split(/^(?=## Task \d+: )/m);
  const own = project ?? /^Work in .*\bProject: (.+)\.$/m.exec(opening)?.[1] ?? cwd;
  const parts = new Map([[own, opening]]);
  for (const task of tasks) {
    const key = TASK_PROJECT.exec(task)?.[1] ?? own;
    parts.set(key, `${parts.get(key) ?? ''}${task}`);
  }
  const session = { path, threadId, updatedAt: field('updated_at'), rolloutPath: field('rollout_path') };
  const heading = /^# (.+)$/m.exec(opening)?.[1]?.replace(/ \(and \d+ more\)$/, '') ?? threadId;
  return [...parts].map(([key, part]) => ({
    ...session,
    cwd: key === own ? cwd : UNKNOWN,
    project: key,
    title: cut(
      (harmlessText(key === own ? heading : (TASK_TITLE.exec(part)?.[1] ?? '')) || threadId).trim(),
      MAX_TITLE,
    ),
    keywords: keywordsOf(part, key).filter((word) => harmlessText(word) === word),
    lessons: readLessons(part),
  }));
}

const UNKNOWN = 'unknown';
const TASK_TITLE = /^## Task \d+: (.+)$/m;
const TASK_PROJECT = /^## Task .*\n\nProject: (.+)\.$/m;

/** The bullets of the three lists that carry lessons; each is told once. */
function readLessons(body: string): readonly Lesson[] {
  const lessons = new Map<string, Lesson>();
  let kind: LessonKind | undefined;
  for (const line of body.split('\n')) {
    if (!line.startsWith('- ')) {
      if (line.trim() !== '') kind = LISTS[line.trim()];
      continue;
    }
    const text = harmlessText(line.slice(2))?.trim() ?? '';
    if (kind !== undefined && text !== '') lessons.set(`${kind}\n${text}`, { kind, text });
  }
  return [...lessons.values()];
}

/** The wish that a preference bullet states now: its first quote, or the whole where it quotes nothing. */
export function mainQuote(text: string): string {
  if (!text.startsWith('"')) return text;
  const end = text.indexOf('" (current; rejected before: ');
  if (end > 0) return text.slice(1, end);
  return /^"(.*)"(?: …)?$/.exec(text)?.[1] ?? /^"([^"]+)"/.exec(text)?.[1] ?? text;
}

const QUOTES = new WeakMap<Lesson, string>();

function quoteOf(lesson: Lesson): string {
  const quote = QUOTES.get(lesson) ?? mainQuote(lesson.text);
  QUOTES.set(lesson, quote);
  return quote;
}

/** True when two lessons say one thing: the same wish, the same cure of the same failure, the same words. */
export function isSameLesson(left: Lesson, right: Lesson): boolean {
  if (left.kind !== right.kind) return false;
  if (left.text === right.text) return true;
  if (left.kind === 'preferences') return isSameWish(quoteOf(left), quoteOf(right));
  if (left.kind === 'failures') {
    const key = cureKey(left.text);
    return key !== undefined && key === cureKey(right.text);
  }
  return false;
}

/** True when following the later preference means to give up the earlier one. */
export function supersedes(later: Lesson, earlier: Lesson): boolean {
  if (later.kind !== 'preferences' || earlier.kind !== 'preferences') return false;
  return replaces(readStance(quoteOf(later)), readStance(quoteOf(earlier)));
}

/** What a cure is about, without the files of the day: the failed program, then the helper or the other program. */
function cureKey(text: string): string | undefined {
  const match = /^(`+)(.+?)\1(?: …)? failed.* -> (?:it|(`+)(.+?)\3(?: …)?) worked(?: after (.+))?$/.exec(text);
  if (!match) return undefined;
  const program = (command: string): string => coreWords(command)[0] ?? '';
  const from = program(match[2] ?? '');
  const to = match[4] === undefined ? from : program(match[4]);
  return from === to ? `${from} after ${match[5] ?? match[4] ?? ''}` : `${from} to ${to}`;
}

/** The programs and file names in the code spans of a summary, and the last word of the project. */
function keywordsOf(body: string, project: string): readonly string[] {
  const words = [project.split('/').at(-1) ?? project];
  const own = body.replace(/"[^"\n]*"/g, ''); // names in quotes are other people's
  for (const match of own.matchAll(/`([^`\n]+)`/g)) {
    const code = match[1] ?? '';
    const word = /\s/.test(code) ? coreWords(code)[0] : code.split('/').at(-1);
    if (word && /^[\w@][\w.@+-]*$/.test(word) && word.length <= 40) words.push(word);
  }
  return [...new Set(words)].filter((word) => word !== '' && !word.includes(',')).slice(0, MAX_KEYWORDS);
}

function cut(text: string, max: number): string {
  const head = [...text].slice(0, max).join('');
  return head === text ? text : `${head.trimEnd()} …`;
}
