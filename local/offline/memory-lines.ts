import { splitReferences } from '../../core/consolidation/references.ts';
import { parseSourceLine } from '../../core/consolidation/source-line.ts';
import type { LessonKind } from './session-record.ts';

/**
 * MEMORY.md as lines, so that whatever a run does not touch keeps its bytes, a person's own lines included. Only what the
 * rules must understand is read: groups, the sources of their tasks, and bullets with their references.
 */
export interface MemoryText {
  /** Lines before the first group. */
  readonly head: readonly string[];
  readonly groups: readonly GroupText[];
}

export interface GroupText {
  readonly name: string;
  readonly project: string;
  readonly cwd: string;
  /** From the group's heading to its first section, without blank lines at the end. */
  readonly head: readonly string[];
  readonly tasks: readonly TaskText[];
  readonly sections: readonly SectionText[];
}

export interface TaskText {
  readonly title: string;
  readonly sources: readonly SourceText[];
  /** Lines after the sources: keywords, and what a person added. */
  readonly rest: readonly string[];
}

export interface SourceText {
  readonly line: string;
  readonly path: string;
  readonly threadId: string;
  readonly updatedAt: string;
}

export interface SectionText {
  readonly heading: string;
  readonly kind: LessonKind | null;
  readonly bullets: readonly BulletText[];
}

/** One bullet with the lines indented below it. `tasks` are numbers as they stand in the text. */
export interface BulletText {
  readonly lines: readonly string[];
  readonly text: string;
  readonly tasks: readonly number[];
  readonly fromNote: boolean;
}

export const SECTION_HEADINGS: Readonly<Record<LessonKind, string>> = {
  preferences: 'User preferences',
  knowledge: 'Reusable knowledge',
  failures: 'Failures and how to do differently',
};
const KINDS: readonly LessonKind[] = ['preferences', 'knowledge', 'failures'];

/** The bytes that a group was read from; a group that was changed is another object and has none. */
const ORIGINALS = new WeakMap<GroupText, string>();

export function parseMemoryText(text: string): MemoryText {
  const [head = [], ...groups] = splitBefore(text.split('\n'), /^# Task Group:/);
  return { head: trimEnd(head), groups: groups.map(readOriginal) };
}

export function renderMemoryText(memory: MemoryText): string {
  const head = memory.head.length > 0 ? [`${memory.head.join('\n')}\n`] : [];
  return [...head, ...memory.groups.map(renderGroup)].join('\n');
}

function readOriginal(lines: readonly string[]): GroupText {
  const group = readGroup(lines);
  ORIGINALS.set(group, `${trimEnd(lines).join('\n')}\n`);
  return group;
}

function readGroup(lines: readonly string[]): GroupText {
  const [head = [], ...parts] = splitBefore(lines, /^## /);
  const appliesTo = /^applies_to: cwd=(.+?); project=([^;]+); reuse_rule=/m.exec(head.join('\n'));
  const isTask = (part: readonly string[]): boolean => /^## Task \d+:/.test(part[0] ?? '');
  return {
    name: (head[0] ?? '').replace(/^# Task Group:/, '').trim(),
    project: appliesTo?.[2]?.trim() ?? 'unknown',
    cwd: appliesTo?.[1] ?? 'unknown',
    head: trimEnd(head),
    tasks: parts.filter(isTask).map(readTaskText),
    sections: parts.filter((part) => !isTask(part)).map(readSection),
  };
}

function readTaskText(lines: readonly string[]): TaskText {
  const title = (lines[0] ?? '').replace(/^## Task \d+:/, '').trim();
  const sources: SourceText[] = [];
  const rest: string[] = [];
  for (const line of lines.slice(1)) {
    const source = parseSourceLine(line);
    if (source !== undefined) sources.push({ line, ...source });
    else if (line !== '### rollout_summary_files') rest.push(line);
  }
  return { title, sources, rest: trimStart(trimEnd(rest)) };
}

function readSection(lines: readonly string[]): SectionText {
  const heading = (lines[0] ?? '').replace(/^## /, '').trim();
  const bullets = splitBefore(trimEnd(lines.slice(1)), /^- /)
    .map(trimEnd)
    .filter((part) => part.some((line) => line.trim() !== ''));
  return {
    heading,
    kind: KINDS.find((kind) => SECTION_HEADINGS[kind] === heading) ?? null,
    bullets: bullets.map(readBullet),
  };
}

function readBullet(lines: readonly string[]): BulletText {
  const { text, tasks, fromNote } = splitReferences(lines.join('\n').trimEnd());
  return { lines, text: text.replace(/^- ?/, '').trim(), tasks, fromNote };
}

/** The same bullet with other references; the lines stay as they are when nothing changes. */
export function withTasks(bullet: BulletText, tasks: readonly number[], text: string = bullet.text): BulletText {
  const same = text === bullet.text && tasks.join() === bullet.tasks.join();
  return same ? bullet : makeBullet(text, tasks, bullet.fromNote);
}

export function makeBullet(text: string, tasks: readonly number[], fromNote = false): BulletText {
  const references = [...(fromNote ? ['[ad-hoc note]'] : []), ...tasks.map((task) => `[Task ${task}]`)].join('');
  return { lines: `- ${text} ${references}`.split('\n'), text, tasks, fromNote };
}

function renderGroup(group: GroupText): string {
  const original = ORIGINALS.get(group);
  if (original !== undefined) return original;
  const blocks = [
    group.head.join('\n'),
    ...group.tasks.map((task, at) => renderTask(task, at + 1)),
    ...sortSections(group.sections)
      .filter((section) => section.bullets.length > 0 || section.kind === null)
      .map((section) => [`## ${section.heading}`, '', ...section.bullets.flatMap((bullet) => bullet.lines)].join('\n')),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function renderTask(task: TaskText, number: number): string {
  const sources = task.sources.map((source) => source.line);
  return [`## Task ${number}: ${task.title}`, '', '### rollout_summary_files', '', ...sources, '', ...task.rest].join(
    '\n',
  );
}

function sortSections(sections: readonly SectionText[]): readonly SectionText[] {
  const rank = (section: SectionText): number => (section.kind === null ? KINDS.length : KINDS.indexOf(section.kind));
  return [...sections].sort((a, b) => rank(a) - rank(b));
}

/** Splits lines before each one that matches; the first part holds what stands before the first match. */
function splitBefore(lines: readonly string[], start: RegExp): string[][] {
  const parts: string[][] = [[]];
  for (const line of lines) {
    if (start.test(line)) parts.push([]);
    parts.at(-1)?.push(line);
  }
  return parts;
}

function trimEnd(lines: readonly string[]): string[] {
  const last = lines.findLastIndex((line) => line.trim() !== '');
  return lines.slice(0, last + 1);
}

function trimStart(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => line.trim() !== '');
  return first < 0 ? [] : lines.slice(first);
}
