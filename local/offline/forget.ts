import { STALE_MARK, unmark } from '../../core/memory/stale-mark.ts';
import { type BulletText, type GroupText, type SectionText, withTasks } from './memory-lines.ts';
import { lessonOf, newBullet, readMark } from './merge.ts';
import { isSameLesson, type Lesson, mainQuote, type SessionRecord } from './session-record.ts';

/** What a run knows of a group's sources when it forgets some of them. */
export interface Forgetting {
  /** Threads that are gone, or that come back in a newer form. */
  readonly gone: ReadonlySet<string>;
  /** Lessons of gone threads, where their files could still be read. */
  readonly goneLessons: readonly Lesson[];
  /** Retained sessions of the group that were read; bullets of others are left as they are. */
  readonly retained: readonly SessionRecord[];
}

/**
 * Takes gone threads out of a group: their source lines, tasks left without a source, references to these, and bullets that
 * rested on them alone. A bullet that a retained session bears out stays, with its count corrected; a line that no session
 * explains is a person's and stays while one of its tasks does.
 *
 * @returns undefined when no task is left
 */
export function forget(group: GroupText, forgetting: Forgetting): GroupText | undefined {
  const hit = new Set<number>();
  const numbers = new Map<number, number>();
  const tasks = group.tasks.flatMap((task, at) => {
    const sources = task.sources.filter((source) => !forgetting.gone.has(source.threadId));
    if (sources.length < task.sources.length) hit.add(at + 1);
    if (sources.length === 0 && task.sources.length > 0) return [];
    numbers.set(at + 1, numbers.size + 1);
    return [{ ...task, sources }];
  });
  const marked = group.sections.some((section) => section.bullets.some(isMarked));
  if (hit.size === 0 && !marked) return group;
  const sections = group.sections.map((section) => ({
    ...section,
    bullets: section.bullets.flatMap((bullet) => keepBullet(bullet, section, { group, forgetting, hit, numbers })),
  }));
  const hasNotes = sections.some((section) => section.bullets.some((bullet) => bullet.fromNote));
  return tasks.length === 0 && !hasNotes ? undefined : { ...group, tasks, sections };
}

interface Change {
  readonly group: GroupText;
  readonly forgetting: Forgetting;
  /** Old numbers of tasks that lost a source. */
  readonly hit: ReadonlySet<number>;
  /** Old numbers to new ones, of the tasks that stay. */
  readonly numbers: ReadonlyMap<number, number>;
}

/** True for a line that a thread which is forgotten already was taken out of. */
export function isMarked(bullet: BulletText): boolean {
  return bullet.text.includes(STALE_MARK);
}

function keepBullet(written: BulletText, section: SectionText, change: Change): readonly BulletText[] {
  const marked = isMarked(written);
  const bullet = marked ? withTasks(written, written.tasks, unmark(written.text)) : written;
  const move = (tasks: readonly number[]): number[] => tasks.flatMap((task) => change.numbers.get(task) ?? []);
  const { kind } = section;
  if (kind === null || bullet.fromNote) return [withTasks(bullet, move(bullet.tasks))];
  if (!marked && !bullet.tasks.some((task) => change.hit.has(task))) return [withTasks(bullet, move(bullet.tasks))];
  const lesson = lessonOf(bullet, kind);
  const bearers = change.forgetting.retained.filter((record) =>
    record.lessons.some((other) => isSameLesson(other, lesson)),
  );
  if (bearers.length > 0) {
    const bearing = new Set(bearers.map((record) => record.threadId));
    const tasks = bullet.tasks.filter((task) =>
      change.group.tasks[task - 1]?.sources.some((source) => bearing.has(source.threadId)),
    );
    return [withTasks(bullet, move(tasks.length > 0 ? tasks : bullet.tasks), correctCount(bullet, bearers))];
  }
  const explained = change.forgetting.goneLessons.some((other) => isSameLesson(other, lesson));
  const unreadable = change.forgetting.goneLessons.length === 0 && readMark(bullet.text) !== undefined;
  const left = move(bullet.tasks);
  if (!explained && !unreadable && left.length > 0) return [withTasks(bullet, left)];
  return kind === 'preferences' ? reviveRejected(bullet, change, move) : [];
}

/** When a wish goes, the one that it had given up is current again, where a retained session holds it. */
function reviveRejected(
  bullet: BulletText,
  change: Change,
  move: (tasks: readonly number[]) => number[],
): readonly BulletText[] {
  for (const record of change.forgetting.retained.toReversed()) {
    const lesson = record.lessons.find(
      (other) => other.kind === 'preferences' && bullet.text.includes(`rejected: "${mainQuote(other.text)}"`),
    );
    const task = change.group.tasks.findIndex((other) =>
      other.sources.some((source) => source.threadId === record.threadId),
    );
    const [moved] = move([task + 1]);
    if (lesson && moved !== undefined) return [newBullet(lesson, record.updatedAt.slice(0, 10), moved)];
  }
  return [];
}

function correctCount(bullet: BulletText, bearers: readonly SessionRecord[]): string {
  const mark = readMark(bullet.text);
  if (mark === undefined || mark.count === bearers.length) return bullet.text;
  const seen = bearers.length > 1 ? `, seen ${bearers.length} times` : '';
  return bullet.text.replace(/(?:, seen \d+ times)?((?:, check first)?\))$/, `${seen}$1`);
}
