import {
  OLDER_TOPICS,
  type ParsedSummary,
  SUMMARY_SECTIONS,
  type SummaryBlock,
  type SummaryDocument,
  type SummaryTopic,
  TOPICS_SECTION,
} from '../memory/summary-document.ts';
import type { DocumentFault } from './memory-grammar.ts';

/** prompts.md: the profile has at most 350 words. */
const PROFILE_WORDS = 350;
const ORDER: readonly (string | null)[] = SUMMARY_SECTIONS;

/** Every way in which memory_summary.md can break its grammar: what is wrong, what would be right. */
const GRAMMAR = {
  first_line: ['the first line is not exactly v1', 'make `v1` the first line, with nothing before it or after it'],
  missing_section: [
    'a section is missing',
    `write all four headings, empty ones too: ${SUMMARY_SECTIONS.map((name) => `\`## ${name}\``).join(', ')}`,
  ],
  duplicate_section: ['the section stands twice', 'put its lines together under one heading'],
  section_order: ['the section stands out of order', `keep the order ${SUMMARY_SECTIONS.join(', ')}`],
  unknown_section: [
    'a section that does not belong there',
    'move its lines into one of the four sections, or to MEMORY.md',
  ],
  before_section: ['text that stands in no section', 'move it below one of the four `##` headings'],
  long_profile: [
    `the profile has more than ${PROFILE_WORDS} words`,
    'keep what the person said of their own way of working',
  ],
  outside_project: [
    'a line that belongs to no project',
    'put it below `### <scope key>` of its project, or below `### global`',
  ],
  no_project: ['a project heading without a project', 'write `### <scope key>`, copied from the list of inputs'],
  bad_day: ['a day heading that is no day', 'write `#### YYYY-MM-DD`'],
  no_desc: ['the topic has no description', 'add a line `  - desc: <one line that names the task group>` below it'],
  no_scope: ['the older topic does not say whose it is', 'start its desc with its project: `[<scope key>] …`'],
  no_day: ['the topic stands below no day', `put it below \`#### YYYY-MM-DD\`, or below \`### ${OLDER_TOPICS}\``],
  open_fence: ['a code fence that is never closed', 'close it with a line of its own'],
} as const;

function fault(code: keyof typeof GRAMMAR, line: number): DocumentFault {
  const [message, cure] = GRAMMAR[code];
  return { code: `summary.${code}`, line, message, cure };
}

/** What keeps a summary from being published (prompts.md), by line; what is missing is told at the last line. */
export function findSummaryFaults({ document, lastLine, openFence }: ParsedSummary): readonly DocumentFault[] {
  const faults: DocumentFault[] = [];
  const first = document.blocks[0];
  if (first?.kind !== 'version' || first.lines[0] !== 'v1') faults.push(fault('first_line', 1));
  if (openFence !== null) faults.push(fault('open_fence', openFence));
  faults.push(...findSectionFaults(document, lastLine), ...findLongProfile(document));
  faults.push(...document.blocks.flatMap(findBlockFault), ...document.topics.flatMap(findTopicFault));
  return faults.sort((left, right) => left.line - right.line);
}

function findSectionFaults(document: SummaryDocument, lastLine: number): readonly DocumentFault[] {
  const headings = document.blocks.filter((block) => block.level === 2);
  const seen = new Set<string>();
  let furthest = -1;
  const faults = headings.flatMap(({ section, line }): readonly DocumentFault[] => {
    const at = ORDER.indexOf(section);
    if (section === null || at < 0) return [fault('unknown_section', line)];
    if (seen.has(section)) return [fault('duplicate_section', line)];
    seen.add(section);
    if (at < furthest) return [fault('section_order', line)];
    furthest = at;
    return [];
  });
  const missing = SUMMARY_SECTIONS.filter((name) => !seen.has(name)).map(() => fault('missing_section', lastLine));
  return [...faults, ...missing];
}

function findLongProfile(document: SummaryDocument): readonly DocumentFault[] {
  const blocks = document.blocks.filter((block) => block.section === 'User Profile' && block.kind !== 'heading');
  const words = blocks.reduce((sum, block) => sum + countWords(block.lines.join(' ')), 0);
  const [first] = blocks;
  return first === undefined || words <= PROFILE_WORDS ? [] : [fault('long_profile', first.line)];
}

/** Words between white space; of scripts that write without it two characters are one. */
function countWords(text: string): number {
  const unspaced = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu)?.length ?? 0;
  const spaced = text
    .split(/[\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  return spaced.length + Math.ceil(unspaced / 2);
}

function findBlockFault(block: SummaryBlock): readonly DocumentFault[] {
  const stray = block.kind === 'text' && block.section === null && block.line > 1 && block.lines[0]?.trim() !== 'v1';
  if (stray) return [fault('before_section', block.line)];
  if (block.section !== TOPICS_SECTION) return [];
  if (block.kind === 'text' && block.project === null) return [fault('outside_project', block.line)];
  if (block.kind !== 'heading') return [];
  if (block.level === 3 && block.project === '') return [fault('no_project', block.line)];
  return block.level === 4 && !isDay(block.day ?? '') ? [fault('bad_day', block.line)] : [];
}

function findTopicFault(topic: SummaryTopic): readonly DocumentFault[] {
  if (topic.desc === null || topic.desc === '') return [fault('no_desc', topic.line)];
  if (topic.older && topic.project === null) return [fault('no_scope', topic.line)];
  return !topic.older && topic.day === null ? [fault('no_day', topic.line)] : [];
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}
