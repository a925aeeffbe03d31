import { isBlank } from '../text.ts';
import { GLOBAL_SCOPE } from './summary-document.ts';

/**
 * A stand-in for a missing summary, built from the headings of MEMORY.md and laid out like a summary, so that it is scoped and
 * cut like one. A task group whose project cannot be told goes below `unknown`, which no reader of a project is shown.
 * @returns `''` when there is no heading to show
 */
export function outlineMemory(memory: string): string {
  const groups = readGroups(memory);
  if (groups.length === 0) return '';
  const projects = [...new Set(groups.map((group) => group.project))];
  const topics = projects.flatMap((project) => [
    `### ${project}`,
    '',
    ...groups.filter((group) => group.project === project).flatMap(showGroup),
    '',
  ]);
  return [
    'v1',
    '',
    '(Built from the headings of MEMORY.md: the summary is missing.)',
    '',
    "## What's in Memory",
    '',
    ...topics,
  ]
    .join('\n')
    .trim();
}

interface Group {
  readonly name: string;
  project: string;
  readonly tasks: string[];
}

function readGroups(memory: string): readonly Group[] {
  const groups: Group[] = [];
  for (const line of memory.split(/\r?\n/)) {
    const name = /^# Task Group:[ \t]*(.+?)[ \t]*$/.exec(line)?.[1];
    if (name !== undefined && !isBlank(name)) groups.push({ name, project: 'unknown', tasks: [] });
    const group = groups.at(-1);
    if (group === undefined) continue;
    const project = /^applies_to:.*; project=([^;]+); reuse_rule=/.exec(line)?.[1]?.trim();
    if (project !== undefined && project !== '') group.project = project === '*' ? GLOBAL_SCOPE : project;
    const task = /^## Task \d+:[ \t]*(.+?)[ \t]*$/.exec(line)?.[1];
    if (task !== undefined) group.tasks.push(task);
  }
  return groups;
}

function showGroup(group: Group): string[] {
  return [`- ${group.name}`, ...group.tasks.map((task) => `  - ${task}`)];
}
