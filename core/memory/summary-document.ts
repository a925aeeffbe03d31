/**
 * The structure of `memory_summary.md` (prompts.md, "consolidation.md"): which line says what for which project. Nothing is
 * rewritten here: every line of the text belongs to exactly one block, so that a reader can leave blocks out and keep the
 * rest as it stands.
 */
export const SUMMARY_SECTIONS = ['User Profile', 'User preferences', 'General Tips', "What's in Memory"] as const;
export const OLDER_TOPICS = 'Older Memory Topics';
/** The project key of topics that hold everywhere. */
export const GLOBAL_SCOPE = 'global';

export const TOPICS_SECTION = "What's in Memory";

/** Lines that stand or fall together: a heading, a bullet with what is indented below it, or a line of text. */
export interface SummaryBlock {
  readonly kind: 'version' | 'heading' | 'text' | 'topic';
  /** Number of `#` of a heading, else 0. */
  readonly level: number;
  /** The `## ` section it stands in; null before the first. */
  readonly section: string | null;
  /** Scope key of the project it speaks of; null outside of projects and where an older topic does not say. */
  readonly project: string | null;
  /** `YYYY-MM-DD` of a dated topic and its heading. */
  readonly day: string | null;
  /** Below `### Older Memory Topics`. */
  readonly older: boolean;
  /** From 1. */
  readonly line: number;
  /** Blank lines after it included. */
  readonly lines: readonly string[];
}

/** One topic bullet, read. */
export interface SummaryTopic {
  readonly title: string;
  readonly keywords: readonly string[];
  readonly desc: string | null;
  readonly learnings: string | null;
  readonly project: string | null;
  readonly day: string | null;
  readonly older: boolean;
  readonly line: number;
}

export interface SummaryDocument {
  readonly blocks: readonly SummaryBlock[];
  readonly topics: readonly SummaryTopic[];
  /** Scope keys of the `### ` headings and of older topics, in order of appearance, `global` left out. */
  readonly projects: readonly string[];
}

export interface SummaryFault {
  readonly code: string;
  /** From 1; for something missing, the last line. */
  readonly line: number;
  readonly message: string;
}

/**
 * Reads a summary. Any text can be read; what does not fit the grammar is told as faults, and is kept as text.
 */
export function parseSummary(text: string): {
  readonly document: SummaryDocument;
  readonly faults: readonly SummaryFault[];
} {
  const blocks = readBlocks(text);
  const topics = blocks.filter((block) => block.kind === 'topic').map(readTopic);
  const named = blocks.flatMap(({ project }) => (project === null || project === GLOBAL_SCOPE ? [] : [project]));
  const document = { blocks, topics, projects: [...new Set(named)] };
  return { document, faults: findFaults(document, text.split('\n').length) };
}

/** Where the reading stands: which headings are open. */
interface Place {
  readonly section: string | null;
  readonly project: string | null;
  readonly day: string | null;
  readonly older: boolean;
}
const OUTSIDE: Place = { section: null, project: null, day: null, older: false };

type OpenBlock = SummaryBlock & { readonly lines: string[] };

function readBlocks(text: string): SummaryBlock[] {
  const blocks: OpenBlock[] = [];
  let place = OUTSIDE;
  let fenced = false;
  for (const [at, line] of text.split('\n').entries()) {
    const last = blocks.at(-1);
    const fence = /^\s*(```|~~~)/.test(line);
    const continues = fenced || line.trim() === '' || (/^[ \t]/.test(line) && last !== undefined && last.level === 0);
    if (fence) fenced = !fenced;
    if (continues && last !== undefined) {
      last.lines.push(line);
      continue;
    }
    const heading = /^(#{2,4})[ \t]+(.*?)[ \t\r]*$/.exec(line);
    if (heading) place = enter(place, heading[1]?.length ?? 0, heading[2] ?? '');
    blocks.push({
      kind: heading ? 'heading' : kindOf(line, at, place),
      level: heading?.[1]?.length ?? 0,
      ...place,
      line: at + 1,
      lines: [line],
    });
  }
  return blocks.map((block) =>
    block.older && block.kind === 'topic' ? { ...block, project: olderOwner(block) } : block,
  );
}

function enter(place: Place, level: number, title: string): Place {
  if (level === 2) return { ...OUTSIDE, section: title };
  if (place.section !== TOPICS_SECTION) return place; // a sub-heading of another section owns nothing
  if (level === 3) {
    const older = title === OLDER_TOPICS;
    return { section: place.section, project: older ? null : title, day: null, older };
  }
  return { ...place, day: title };
}

function kindOf(line: string, at: number, place: Place): SummaryBlock['kind'] {
  if (at === 0 && line.trim() === 'v1') return 'version';
  return (place.project !== null || place.older) && /^[-*+] /.test(line) ? 'topic' : 'text';
}

/** An older topic names its project as `[<scope key>]` at the start of its description. */
function olderOwner(block: SummaryBlock): string | null {
  return /^\[([^\]]+)\]/.exec(fieldOf(block, 'desc') ?? '')?.[1]?.trim() ?? null;
}

function readTopic(block: SummaryBlock): SummaryTopic {
  const first = (block.lines[0] ?? '').replace(/^[-*+] +/, '').trim();
  const colon = first.indexOf(': ');
  const words = colon < 0 ? '' : first.slice(colon + 2);
  return {
    title: colon < 0 ? first.replace(/:$/, '') : first.slice(0, colon),
    keywords: words.split(/[,，、]/).flatMap((word) => (word.trim() === '' ? [] : [word.trim()])),
    desc: fieldOf(block, 'desc'),
    learnings: fieldOf(block, 'learnings'),
    project: block.project,
    day: block.day,
    older: block.older,
    line: block.line,
  };
}

function fieldOf(block: SummaryBlock, name: 'desc' | 'learnings'): string | null {
  const start = new RegExp(`^[ \\t]+(?:[-*+] +)?${name}:[ \\t]*`);
  const line = block.lines.find((candidate) => start.test(candidate));
  return line === undefined ? null : line.replace(start, '').trim();
}

function findFaults(document: SummaryDocument, lastLine: number): SummaryFault[] {
  const faults: SummaryFault[] = [];
  const first = document.blocks[0];
  if (first?.kind !== 'version' || first.lines[0] !== 'v1') {
    faults.push({ code: 'summary.first_line', line: 1, message: 'the first line must be exactly v1' });
  }
  for (const section of SUMMARY_SECTIONS) {
    const found = document.blocks.filter((block) => block.level === 2 && block.section === section);
    const message = `there must be exactly one section "## ${section}"`;
    if (found.length === 0) faults.push({ code: 'summary.missing_section', line: lastLine, message });
    const second = found[1];
    if (second) faults.push({ code: 'summary.duplicate_section', line: second.line, message });
  }
  faults.push(...document.blocks.flatMap(findHeadingFault), ...document.topics.flatMap(findTopicFault));
  return faults.sort((left, right) => left.line - right.line);
}

function findHeadingFault(block: SummaryBlock): SummaryFault[] {
  if (block.kind !== 'heading' || block.section !== TOPICS_SECTION) return [];
  if (block.level === 3 && block.project === '') {
    return [{ code: 'summary.no_project', line: block.line, message: 'a project heading must be "### <scope key>"' }];
  }
  if (block.level === 4 && !isDay(block.day ?? '')) {
    return [{ code: 'summary.bad_day', line: block.line, message: 'a day heading must be "#### YYYY-MM-DD"' }];
  }
  return [];
}

function findTopicFault(topic: SummaryTopic): SummaryFault[] {
  const fault = (code: string, message: string): SummaryFault[] => [{ code, line: topic.line, message }];
  if (topic.desc === null || topic.desc === '')
    return fault('summary.no_desc', 'a topic must have a line "  - desc: <one line>"');
  if (topic.older && topic.project === null)
    return fault('summary.no_scope', 'the desc of an older topic must start with its project: "[<scope key>] …"');
  if (!topic.older && topic.day === null)
    return fault('summary.no_day', 'a topic must stand below a day: "#### YYYY-MM-DD"');
  return [];
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}
