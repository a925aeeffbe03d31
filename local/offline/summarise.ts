import { utf8Length } from '../../core/text.ts';
import type { BulletText, GroupText, MemoryText } from './memory-lines.ts';
import { isOutdated, lessonOf, readMark, sectionOf } from './merge.ts';
import { isNotesGroup } from './notes.ts';
import { isSameLesson, type LessonKind } from './session-record.ts';

const DETAILED_BYTES = 8_500;
const ALL_BYTES = 36_000;
const MAX_TOPICS = 4;
const MAX_LEARNINGS = 600;
const MAX_TITLE = 70;

/**
 * memory_summary.md from MEMORY.md alone (prompts.md): what was asked for in at least two projects is global, everything
 * else stands under its project. Newest projects first and in detail, the others as one line each.
 */
export function summariseMemory(memory: MemoryText): string {
  const groups = memory.groups.filter((group) => !isNotesGroup(group) && group.tasks.length > 0);
  const sorted = groups.toSorted((a, b) => (newestDay(b) > newestDay(a) ? 1 : newestDay(b) < newestDay(a) ? -1 : 0));
  const projects = new Set(groups.map((group) => group.project));
  const threads = new Set(
    groups.flatMap((group) => group.tasks.flatMap((task) => task.sources.map((s) => s.threadId))),
  );
  const lines = [
    'v1',
    '',
    '## User Profile',
    '',
    `Written by the offline stand-in from ${threads.size} sessions in ${projects.size} projects: quotes, commands and outcomes only, nothing inferred.`,
    '',
    '## User preferences',
    '',
    ...spaced(sharedLessons(groups, 'preferences')),
    '## General Tips',
    '',
    ...spaced(sharedLessons(groups, 'failures')),
    "## What's in Memory",
    '',
    ...notesTopic(memory),
  ];
  return `${[...lines, ...projectTopics(sorted)].join('\n').trimEnd()}\n`;
}

/** Lessons that at least two projects hold, newest wording first. */
function sharedLessons(groups: readonly GroupText[], kind: LessonKind): readonly string[] {
  const seen: { bullet: BulletText; projects: Set<string> }[] = [];
  for (const group of groups) {
    for (const bullet of sectionOf(group, kind).bullets) {
      const same = seen.find((entry) => isSameLesson(lessonOf(entry.bullet, kind), lessonOf(bullet, kind)));
      if (same === undefined) seen.push({ bullet, projects: new Set([group.project]) });
      else {
        same.projects.add(group.project);
        if ((readMark(bullet.text)?.date ?? '') > (readMark(same.bullet.text)?.date ?? '')) same.bullet = bullet;
      }
    }
  }
  return seen
    .filter((entry) => entry.projects.size > 1)
    .map((entry) => `- ${oneLine(lessonOf(entry.bullet, kind).text)} (in ${entry.projects.size} projects)`);
}

function notesTopic(memory: MemoryText): readonly string[] {
  const group = memory.groups.find(isNotesGroup);
  const bullets =
    group === undefined ? [] : sectionOf(group, 'preferences').bullets.filter((bullet) => bullet.fromNote);
  if (bullets.length === 0) return [];
  const days = bullets.map((bullet) => /notes\/(\d{4}-\d{2}-\d{2})T/.exec(bullet.text)?.[1] ?? '').filter((day) => day);
  const texts = bullets.map((bullet) => bullet.text.replace(/ \([^()]*\)$/, ''));
  return [
    '### global',
    '',
    `#### ${days.sort().at(-1) ?? '1970-01-01'}`,
    '',
    '- notes of the person: note, remember',
    '  - desc: Notes; what the person asked to be remembered',
    `  - learnings: ${joinWithin(texts, MAX_LEARNINGS)}`,
    '',
  ];
}

function projectTopics(groups: readonly GroupText[]): readonly string[] {
  const lines: string[] = [];
  const older: string[] = [];
  let bytes = 0;
  let olderBytes = 0;
  groups.forEach((group, at) => {
    const topics = detailedTopics(group);
    const size = utf8Length(topics.join('\n'));
    if (at === 0 || bytes + size <= DETAILED_BYTES) {
      lines.push(...topics);
      older.push(...olderTopic(group, MAX_TOPICS));
      bytes += size;
      return;
    }
    const line = olderTopic(group, 0);
    olderBytes += utf8Length(line.join('\n'));
    if (bytes + olderBytes <= ALL_BYTES) older.push(...line);
  });
  return older.length > 0 ? [...lines, '### Older Memory Topics', '', ...older] : lines;
}

/** The project's ways of working first, then its newest tasks by day. */
function detailedTopics(group: GroupText): readonly string[] {
  const lines = [`### ${group.project}`, ''];
  const wishes = sectionOf(group, 'preferences').bullets;
  const tasks = group.tasks.map((task, at) => ({ task, number: at + 1, day: dayOf(task.sources) }));
  const newest = tasks.toSorted((a, b) => (b.day > a.day ? 1 : b.day < a.day ? -1 : b.number - a.number));
  const shown = new Set<BulletText>();
  let day = '';
  newest.slice(0, MAX_TOPICS).forEach(({ task, number, day: taskDay }, at) => {
    if (taskDay !== day) lines.push(`#### ${taskDay}`, '');
    day = taskDay;
    if (at === 0 && wishes.length > 0) {
      const texts = wishes.map((bullet) => oneLine(lessonOf(bullet, 'preferences').text));
      lines.push(
        `- ways of working here: ${keywordsOf(group).join(', ')}`,
        `  - desc: ${group.name}; what the person asked for in this project`,
        `  - learnings: ${joinWithin(texts, MAX_LEARNINGS)}`,
        '',
      );
    }
    const learnings = bestLesson(group, number, shown);
    lines.push(
      `- ${topicTitle(task.title)}: ${keywordsIn(task.rest).slice(0, 6).join(', ')}`,
      `  - desc: ${group.name}; Task ${number}`,
      ...(learnings === '' ? [] : [`  - learnings: ${learnings}`]),
      '',
    );
  });
  return lines;
}

/** One line for what is not shown in detail. */
function olderTopic(group: GroupText, shown: number): readonly string[] {
  const left = group.tasks.length - shown;
  if (left <= 0) return [];
  const words = keywordsOf(group).slice(0, 4).join(', ');
  return [
    `- ${topicTitle(group.name)}${shown > 0 ? ', earlier' : ''}: ${words}`,
    `  - desc: [${group.project}] ${group.name}; ${left} ${left === 1 ? 'task' : 'tasks'}`,
    '',
  ];
}

/** What a later agent would most likely need of a task and has not been shown: a cure, else a passed check. */
function bestLesson(group: GroupText, task: number, shown: Set<BulletText>): string {
  for (const kind of ['failures', 'knowledge'] as const) {
    const bullet = sectionOf(group, kind).bullets.find(
      (candidate) => candidate.tasks.includes(task) && !shown.has(candidate) && !isOutdated(candidate.text),
    );
    if (bullet === undefined) continue;
    shown.add(bullet);
    return joinWithin([oneLine(bullet.text)], MAX_LEARNINGS);
  }
  return '';
}

function keywordsOf(group: GroupText): readonly string[] {
  return [...new Set(group.tasks.toReversed().flatMap((task) => keywordsIn(task.rest)))].slice(0, 8);
}

function keywordsIn(rest: readonly string[]): readonly string[] {
  const line = rest.find((text) => text.startsWith('- ')) ?? '- ';
  return line.slice(2).split(', ');
}

function newestDay(group: GroupText): string {
  return (
    group.tasks
      .map((task) => dayOf(task.sources))
      .sort()
      .at(-1) ?? ''
  );
}

function dayOf(sources: readonly { readonly updatedAt: string }[]): string {
  return (
    sources
      .map((source) => source.updatedAt.slice(0, 10))
      .sort()
      .at(-1) ?? '1970-01-01'
  );
}

function topicTitle(title: string): string {
  const line = title.replaceAll(': ', ', ').replace(/[:.。]+$/, '');
  const head = [...line].slice(0, MAX_TITLE).join('').trimEnd();
  return head === line ? line : `${head} …`;
}

function joinWithin(texts: readonly string[], max: number): string {
  let out = '';
  for (const text of texts) {
    const next = out === '' ? text : `${out} | ${text}`;
    if (next.length > max) return out === '' ? `${[...text].slice(0, max).join('')} …` : out;
    out = next;
  }
  return out;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function spaced(lines: readonly string[]): readonly string[] {
  return lines.length > 0 ? [...lines, ''] : [];
}
