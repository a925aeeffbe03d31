import { utf8Length } from '../../core/text.ts';
import type { GroupText, MemoryText, SectionText, TaskText } from './memory-lines.ts';
import { renderMemoryText } from './memory-lines.ts';
import { readMark } from './merge.ts';

/** Below the 256 KB that a memory may have, and below what one answer can hold. */
const MAX_BYTES = 110_000;
const EARLIER = 'Earlier sessions';

/** How much of each group stays: the newest tasks one by one, and the newest of what was seen once. */
const STEPS = [
  { tasks: 40, once: 60 },
  { tasks: 20, once: 30 },
  { tasks: 10, once: 15 },
  { tasks: 4, once: 6 },
  { tasks: 1, once: 2 },
] as const;

/**
 * Keeps MEMORY.md within its size. Where it is larger, the oldest tasks of each group become one task with all their
 * sources, and what was seen once and long ago goes, knowledge and failures before preferences. No source is lost.
 */
export function compactMemory(memory: MemoryText): MemoryText {
  let small = memory;
  for (const step of STEPS) {
    if (utf8Length(renderMemoryText(small)) <= MAX_BYTES) return small;
    small = { ...memory, groups: memory.groups.map((group) => compactGroup(group, step)) };
  }
  return small;
}

function compactGroup(group: GroupText, keep: { readonly tasks: number; readonly once: number }): GroupText {
  const sections = group.sections.map((section) => dropOld(section, keep.once));
  const surplus = group.tasks.length - keep.tasks;
  if (surplus <= 1) return { ...group, sections };
  const earlier = mergeTasks(group.tasks.slice(0, surplus));
  const moved = (task: number): number => (task <= surplus ? 1 : task - surplus + 1);
  return {
    ...group,
    tasks: [earlier, ...group.tasks.slice(surplus)],
    sections: sections.map((section) => ({
      ...section,
      bullets: section.bullets.map((bullet) => {
        const tasks = [...new Set(bullet.tasks.map(moved))];
        const references = [...(bullet.fromNote ? ['[ad-hoc note]'] : []), ...tasks.map((task) => `[Task ${task}]`)];
        return { ...bullet, tasks, lines: `- ${bullet.text} ${references.join('')}`.split('\n') };
      }),
    })),
  };
}

function mergeTasks(tasks: readonly TaskText[]): TaskText {
  const words = tasks.flatMap((task) => task.rest.filter((line) => line.startsWith('- ')));
  const keywords = [...new Set(words.flatMap((line) => line.slice(2).split(', ')))].slice(0, 20);
  return {
    title: EARLIER,
    sources: tasks.flatMap((task) => task.sources),
    rest: ['### keywords', '', `- ${keywords.join(', ')}`],
  };
}

/** Bullets stand newest first: of those that the rules made and saw once, only the first ones stay. */
function dropOld(section: SectionText, once: number): SectionText {
  const limit = section.kind === 'preferences' ? once * 3 : once;
  let seen = 0;
  const bullets = section.bullets.filter((bullet) => {
    const mark = readMark(bullet.text);
    if (mark === undefined || mark.count > 1 || bullet.fromNote) return true;
    return ++seen <= limit;
  });
  return { ...section, bullets };
}
