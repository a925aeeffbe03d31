import { plainWords } from './stale-mark.ts';
import { GLOBAL_SCOPE, type SummaryBlock } from './summary-document.ts';

interface NamedGroup {
  readonly name: string;
  readonly project: string;
}

interface NumberedTask {
  readonly number: number;
  readonly title: string;
}

/** The groups that the description of a topic names, the longest names first: `shop tests` does not name `shop` as well. */
export function namedGroups<G extends NamedGroup>(
  block: Pick<SummaryBlock, 'project'>,
  desc: string,
  groups: readonly G[],
): readonly G[] {
  const isNear = (group: G): boolean =>
    block.project === null || block.project === GLOBAL_SCOPE || group.project === block.project;
  const named = groups.filter((group) => group.name !== '' && isNear(group) && desc.includes(group.name));
  return named.filter((group) => !named.some((other) => other.name !== group.name && other.name.includes(group.name)));
}

/** Tasks by their numbers in the description, else by the title that the topic shares with one. */
export function namedTasks<T extends NumberedTask>(
  block: Pick<SummaryBlock, 'lines'>,
  desc: string,
  tasks: readonly T[],
): readonly T[] {
  const numbers = new Set([...desc.matchAll(/\bTask (\d{1,6})\b/g)].map((match) => Number(match[1])));
  if (numbers.size > 0) return tasks.filter((task) => numbers.has(task.number));
  const title = plainWords((block.lines[0] ?? '').replace(/^[-*+] +/, '').replace(/: .*$/, ''));
  return tasks.filter((task) => plainWords(task.title) === title);
}
