import {
  BULLET_SECTIONS,
  type MemoryBullet,
  type MemoryDocument,
  type MemoryTask,
  type TaskGroup,
} from './memory-document.ts';
import { renderReferences } from './references.ts';
import { renderSourceLine } from './source-line.ts';

/**
 * MEMORY.md as it is laid out (prompts.md): the same document gives the same bytes, whoever wrote it. What was read with
 * faults is not rendered whole: render only what `parseMemoryDocument` found none in.
 */
export function renderMemoryDocument(document: MemoryDocument): string {
  return document.groups.map(renderGroup).join('\n');
}

function renderGroup(group: TaskGroup): string {
  const head = [
    `# Task Group: ${group.name}`,
    '',
    `scope: ${group.scope}`,
    `applies_to: cwd=${group.cwd}; project=${group.project}; reuse_rule=${group.reuseRule}`,
  ];
  const sections = [...BULLET_SECTIONS].flatMap(([heading, section]) => {
    const bullets = group.bullets[section];
    return bullets.length === 0 ? [] : [[`## ${heading}`, '', ...bullets.map(renderBullet)].join('\n')];
  });
  return `${[head.join('\n'), ...group.tasks.map(renderTask), ...sections].join('\n\n')}\n`;
}

function renderTask(task: MemoryTask): string {
  return [
    `## Task ${task.number}: ${task.title}`,
    '',
    '### rollout_summary_files',
    '',
    ...task.sources.map(renderSourceLine),
    '',
    '### keywords',
    '',
    `- ${task.keywords.join(', ')}`,
  ].join('\n');
}

/** Behind a code fence nothing may stand, so references then have a line of their own. */
function renderBullet(bullet: MemoryBullet): string {
  const last = bullet.text.slice(bullet.text.lastIndexOf('\n') + 1).trimStart();
  const gap = bullet.text.includes('\n') && /^(?:```|~~~)/.test(last) ? '\n  ' : ' ';
  return `- ${bullet.text}${gap}${renderReferences(bullet)}`;
}
