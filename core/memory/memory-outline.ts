import { parseMemoryDocument } from '../consolidation/memory-document.ts';
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
  readonly project: string;
  readonly tasks: readonly string[];
}

function readGroups(memory: string): readonly Group[] {
  const { groups } = parseMemoryDocument(memory).document;
  const named = groups.filter((group) => !isBlank(group.name));
  return named.map(({ name, project, tasks }) => ({
    name,
    project: project === '' ? 'unknown' : project === '*' ? GLOBAL_SCOPE : project,
    tasks: tasks.flatMap((task) => (task.title === '' ? [] : [task.title])),
  }));
}

function showGroup(group: Group): string[] {
  return [`- ${group.name}`, ...group.tasks.map((task) => `  - ${task}`)];
}
