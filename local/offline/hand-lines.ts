import { splitReferences } from '../../core/consolidation/references.ts';
import { type MemoryText, makeBullet, renderMemoryText } from './memory-lines.ts';
import { sectionOf, withSection } from './merge.ts';
import { notesGroupOf } from './notes.ts';

const BY_HAND = '(written by hand)';
/** Lines that only give the document its form. */
const FORM = /^(?:#|scope:|applies_to:|- rollout_summaries\/)/;
const MAX_LINES = 50;

/** The lines that a person added to MEMORY.md, as the workspace diff shows them, without their dash and references. */
export function readHandLines(diff: string): readonly string[] {
  const start = diff.indexOf('diff --git a/MEMORY.md b/MEMORY.md');
  if (start < 0) return [];
  const end = diff.indexOf('\ndiff --git ', start);
  const lines = diff.slice(start, end < 0 ? undefined : end).split('\n');
  return lines
    .filter((line) => line.startsWith('+') && !line.startsWith('+++ '))
    .map((line) => line.slice(1).trim())
    .filter((line) => line !== '' && !FORM.test(line))
    .map((line) => splitReferences(line.replace(/^- /, '')).text)
    .slice(0, MAX_LINES);
}

/** The lines that an earlier rewrite kept. */
export function keptHandLines(memory: string): readonly string[] {
  return memory.split('\n').flatMap((line) => {
    const kept = splitReferences(line).text;
    return line.startsWith('- ') && kept.endsWith(` ${BY_HAND}`) ? [kept.slice(2, -BY_HAND.length - 1)] : [];
  });
}

/**
 * Keeps a person's lines over a rewrite (user case A31): what the new text does not hold already becomes a bullet of the notes'
 * group, word for word, where the grammar allows a line without a session.
 */
export function keepHandLines(memory: MemoryText, lines: readonly string[]): MemoryText {
  const text = renderMemoryText(memory);
  const missing = [...new Set(lines)].filter((line) => !text.includes(line));
  if (missing.length === 0) return memory;
  const group = notesGroupOf(memory);
  const section = sectionOf(group, 'preferences');
  const bullets = [...section.bullets, ...missing.map((line) => makeBullet(`${line} ${BY_HAND}`, [], true))];
  const next = withSection(group, { ...section, bullets });
  const at = memory.groups.indexOf(group);
  return { ...memory, groups: at < 0 ? [...memory.groups, next] : memory.groups.with(at, next) };
}
