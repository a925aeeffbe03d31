import { coreWords } from './commands.ts';
import {
  type BulletText,
  type GroupText,
  makeBullet,
  SECTION_HEADINGS,
  type SectionText,
  type SourceText,
  type TaskText,
  withTasks,
} from './memory-lines.ts';
import { normalise } from './sentences.ts';
import {
  isSameLesson,
  type Lesson,
  type LessonKind,
  mainQuote,
  type SessionRecord,
  supersedes,
} from './session-record.ts';
import { readStance } from './stance.ts';

/** The date, the count and the hint that the rules put behind a lesson; other text is left as a person wrote it. */
const MARK = / \((?:alike (\d+) times until )?(\d{4}-\d{2}-\d{2})(?:, seen (\d+) times)?(, check first)?\)$/;

/** Behind a lesson whose way of working the person has given up since. */
const OUTDATED = /; outdated since (\d{4}-\d{2}-\d{2})$/;

interface Mark {
  readonly date: string;
  readonly count: number;
  /** The sessions after the first had other commands of the same kind. */
  readonly alike: boolean;
}

/**
 * Takes a session into the group of its project. What is known already gains a source, a date and a count; what is new is
 * added on top of its section; a wish that gives up an earlier one takes its place and names it as rejected.
 */
export function takeIn(group: GroupText, record: SessionRecord): GroupText {
  const known = record.lessons.map((lesson) => findBullet(group, lesson));
  const confirms = record.lessons.length > 0 && known.every((bullet) => bullet !== undefined);
  const placed = placeTask(group, record, confirms ? known[0] : undefined);
  return record.lessons.reduce(
    (next, lesson) => addLesson(markOutdated(next, lesson, record), lesson, record, placed.task),
    placed.group,
  );
}

/** A session that only confirms what is known joins the task of the first bullet; one of the same title joins its task. */
function placeTask(
  group: GroupText,
  record: SessionRecord,
  confirmed: BulletText | undefined,
): { readonly group: GroupText; readonly task: number } {
  const title = normalise(record.title);
  const same = group.tasks.findIndex((task) => normalise(task.title) === title);
  const at = same >= 0 ? same : (confirmed?.tasks[0] ?? 0) - 1;
  const source = sourceOf(record);
  const joined = group.tasks[at];
  if (joined === undefined) {
    const rest = ['### keywords', '', `- ${record.keywords.join(', ')}`];
    const task: TaskText = { title: record.title, sources: [source], rest };
    return { group: { ...group, tasks: [...group.tasks, task] }, task: group.tasks.length + 1 };
  }
  const tasks = group.tasks.with(at, { ...joined, sources: [...joined.sources, source] });
  return { group: { ...group, tasks }, task: at + 1 };
}

function sourceOf(record: SessionRecord): SourceText {
  const { path, cwd, rolloutPath, updatedAt, threadId } = record;
  const line = `- ${path} (cwd=${cwd}, rollout_path=${rolloutPath}, updated_at=${updatedAt}, thread_id=${threadId})`;
  return { line, path, threadId, updatedAt };
}

function addLesson(group: GroupText, lesson: Lesson, record: SessionRecord, task: number): GroupText {
  const section = sectionOf(group, lesson.kind);
  const date = record.updatedAt.slice(0, 10);
  const known = section.bullets.find((bullet) => isSameLesson(lessonOf(bullet, lesson.kind), lesson));
  if (known) return replaceBullet(group, lesson.kind, known, confirm(known, lesson, date, task));
  const fresh = newBullet(lesson, date, task);
  const isNewer = (bullet: BulletText): boolean => (readMark(bullet.text)?.date ?? '') > date;
  const newer = section.bullets.find((bullet) => isNewer(bullet) && supersedes(lessonOf(bullet, lesson.kind), lesson));
  if (newer) return replaceBullet(group, lesson.kind, newer, withHistory(newer, fresh));
  const outdated = section.bullets.filter(
    (bullet) => !isNewer(bullet) && supersedes(lesson, lessonOf(bullet, lesson.kind)),
  );
  const current = outdated.reduce((next, old) => withHistory(next, old), fresh);
  const rest = section.bullets.filter((bullet) => !outdated.includes(bullet));
  return withSection(group, { ...section, bullets: [current, ...rest] });
}

/** Commands of a program that the person has given up stay as history, marked with the day of that wish. */
function markOutdated(group: GroupText, lesson: Lesson, record: SessionRecord): GroupText {
  if (lesson.kind !== 'preferences') return group;
  const { rejected, wanted } = readStance(mainQuote(lesson.text));
  if (wanted.size === 0 || rejected.size === 0) return group;
  const day = record.updatedAt.slice(0, 10);
  const mark = (bullet: BulletText): BulletText => {
    const found = readMark(bullet.text);
    const base = bullet.text.replace(MARK, '');
    // a cure that let the same command work is as old as that command
    const command =
      /^(?:.* -> )?(`+)(.+?)\1(?: …)? (?:passed|worked)/.exec(base)?.[2] ??
      /^(`+)(.+?)\1(?: …)? failed.* -> it worked/.exec(base)?.[2] ??
      '';
    if (found === undefined || found.date >= day || OUTDATED.test(base)) return bullet;
    if (!rejected.has(coreWords(command)[0] ?? '')) return bullet;
    return withTasks(bullet, bullet.tasks, `${base}; outdated since ${day}${bullet.text.slice(base.length)}`);
  };
  return {
    ...group,
    sections: group.sections.map((section) =>
      section.kind === 'preferences' ? section : { ...section, bullets: section.bullets.map(mark) },
    ),
  };
}

export function newBullet(lesson: Lesson, date: string, task: number): BulletText {
  return makeBullet(`${lesson.text}${writeMark({ date, count: 1, alike: false }, lesson.kind)}`, [task]);
}

/**
 * The count goes up, the date forward, the new task joins; the wording stays. Where the commands were others of the same kind,
 * the mark says `alike`: these very ones were not seen again.
 */
function confirm(bullet: BulletText, lesson: Lesson, date: string, task: number): BulletText {
  const tasks = [...new Set([...bullet.tasks, task])];
  const mark = readMark(bullet.text);
  if (mark === undefined) return withTasks(bullet, tasks);
  const newer = date > mark.date ? date : mark.date;
  const base = bullet.text.replace(MARK, '');
  const current = date > (OUTDATED.exec(base)?.[1] ?? date) ? base.replace(OUTDATED, '') : base;
  const alike = mark.alike || (lesson.kind !== 'preferences' && lessonOf(bullet, lesson.kind).text !== lesson.text);
  return withTasks(bullet, tasks, `${current}${writeMark({ date: newer, count: mark.count + 1, alike }, lesson.kind)}`);
}

/** Names the outdated wish behind the current one, with its date, and keeps its tasks as sources of that history. */
function withHistory(current: BulletText, old: BulletText): BulletText {
  const tasks = [...new Set([...current.tasks, ...old.tasks])];
  const quoted = `"${mainQuote(lessonOf(old, 'preferences').text)}"`;
  if (current.text.includes(quoted)) return withTasks(current, tasks);
  const mark = readMark(current.text);
  const oldMark = readMark(old.text);
  const until = oldMark === undefined ? '' : ` of ${oldMark.date}`;
  const text = `${current.text.replace(MARK, '')}; rejected: ${quoted}${until}`;
  return makeBullet(mark === undefined ? text : `${text}${writeMark(mark, 'preferences')}`, tasks);
}

export function readMark(text: string): Mark | undefined {
  const match = MARK.exec(text);
  if (!match) return undefined;
  return { date: match[2] ?? '', count: Number(match[1] ?? match[3] ?? 1), alike: match[1] !== undefined };
}

/** True for a lesson of a way of working that was given up. */
export function isOutdated(text: string): boolean {
  return OUTDATED.test(text.replace(MARK, ''));
}

/** What drifts (commands, paths, versions) is to be checked before it is relied on. */
function writeMark(mark: Mark, kind: LessonKind): string {
  const seen = mark.count > 1 && !mark.alike ? `, seen ${mark.count} times` : '';
  const alike = mark.alike ? `alike ${mark.count} times until ` : '';
  return ` (${alike}${mark.date}${seen}${kind === 'preferences' ? '' : ', check first'})`;
}

const LESSONS = new WeakMap<BulletText, Lesson>();

/** What a bullet says, without its mark and its history. */
export function lessonOf(bullet: BulletText, kind: LessonKind): Lesson {
  const known = LESSONS.get(bullet);
  if (known?.kind === kind) return known;
  const base = bullet.text.replace(MARK, '');
  const text = kind === 'preferences' ? base.replace(/(?:; rejected: ".*)$/s, '') : base.replace(OUTDATED, '');
  const lesson = { kind, text };
  LESSONS.set(bullet, lesson);
  return lesson;
}

function findBullet(group: GroupText, lesson: Lesson): BulletText | undefined {
  const { bullets } = sectionOf(group, lesson.kind);
  return bullets.find((bullet) => isSameLesson(lessonOf(bullet, lesson.kind), lesson));
}

export function sectionOf(group: GroupText, kind: LessonKind): SectionText {
  const found = group.sections.find((section) => section.kind === kind);
  return found ?? { heading: SECTION_HEADINGS[kind], kind, bullets: [] };
}

export function withSection(group: GroupText, section: SectionText): GroupText {
  const others = group.sections.filter((other) => other.heading !== section.heading);
  return { ...group, sections: [...others, section] };
}

function replaceBullet(group: GroupText, kind: LessonKind, old: BulletText, bullet: BulletText): GroupText {
  const section = sectionOf(group, kind);
  return withSection(group, { ...section, bullets: section.bullets.map((item) => (item === old ? bullet : item)) });
}

/** A new group for a project. */
export function newGroup(name: string, record: SessionRecord): GroupText {
  const head = [
    `# Task Group: ${name}`,
    '',
    `scope: what sessions in ${record.project} showed`,
    `applies_to: cwd=${record.cwd}; project=${record.project}; reuse_rule=only in this project; check commands and paths first`,
  ];
  return { name, project: record.project, cwd: record.cwd, head, tasks: [], sections: [] };
}
