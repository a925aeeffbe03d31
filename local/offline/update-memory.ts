import { compactMemory } from './compact.ts';
import { forget } from './forget.ts';
import type { GroupText, MemoryText } from './memory-lines.ts';
import { newGroup, takeIn } from './merge.ts';
import type { Lesson, SessionRecord } from './session-record.ts';

export interface Update {
  /** Threads whose earlier form is to be forgotten: removed ones, and those that come back changed. */
  readonly gone: ReadonlySet<string>;
  readonly goneLessons: readonly Lesson[];
  /** Sessions of the groups that lose a source, unchanged. */
  readonly retained: readonly SessionRecord[];
  /** Sessions to take in. */
  readonly added: readonly SessionRecord[];
}

/**
 * The next MEMORY.md: first what is gone is forgotten, then sessions are taken in from the oldest to the newest, each into
 * the group of its project. Groups that gain something move to the front; all others keep their place and their bytes.
 */
export function updateMemory(memory: MemoryText, update: Update): MemoryText {
  let groups: readonly GroupText[] = memory.groups.flatMap((group) => {
    const retained = update.retained.filter((record) => citesThread(group, record.threadId));
    return forget(group, { gone: update.gone, goneLessons: update.goneLessons, retained }) ?? [];
  });
  for (const record of [...update.added].sort(byTime)) {
    const group = groups.find((candidate) => candidate.project === record.project);
    const next = takeIn(group ?? newGroup(groupName(record.project, groups), record), record);
    groups = [next, ...groups.filter((candidate) => candidate !== group)];
  }
  return compactMemory({ ...memory, groups });
}

/** All threads that the tasks of a group rest on. */
export function citesThread(group: GroupText, threadId: string): boolean {
  return group.tasks.some((task) => task.sources.some((source) => source.threadId === threadId));
}

function byTime(left: SessionRecord, right: SessionRecord): number {
  if (left.updatedAt !== right.updatedAt) return left.updatedAt < right.updatedAt ? -1 : 1;
  return left.threadId < right.threadId ? -1 : 1;
}

/** The last part of the project's key; the whole key where another project has that name. */
function groupName(project: string, groups: readonly GroupText[]): string {
  const short =
    project
      .split('/')
      .filter((part) => part !== '')
      .at(-1) ?? project;
  return groups.some((group) => group.name === short) ? project : short;
}
