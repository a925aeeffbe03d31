import type { Explanation } from '../core/memory/explain-memory.ts';
import { clip, printable } from './console.ts';

/** Characters of a block's title. */
const TITLE_WIDTH = 100;

/** What each part of a memory rests on, for a person. */
export function whyText({ path, blocks }: Explanation): string {
  if (blocks.length === 0) return `${printable(path)} holds nothing that rests on a session`;
  return blocks
    .map((block) => {
      const head = `${block.path}:${block.line}  ${block.kind}  ${clip(printable(block.title), TITLE_WIDTH)}`;
      const sources = block.sources.map(({ thread_id: id, rollout_summary: file, project, updated_at: at }) =>
        [`    ${id}`, at ?? 'time unknown', project ?? 'project unknown', ...(file === null ? [] : [file])].join('  '),
      );
      return [head, ...(sources.length === 0 ? ['    no session: a note, or it does not say'] : sources)].join('\n');
    })
    .join('\n');
}
