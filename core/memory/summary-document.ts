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

/** A summary, read. */
export interface ParsedSummary {
  readonly document: SummaryDocument;
  /** Number of the last line. */
  readonly lastLine: number;
  /** The line of a code fence that is never closed; null where each one is. */
  readonly openFence: number | null;
}

/** Reads a summary. Any text can be read; what does not fit the grammar is kept as text (`findSummaryFaults` tells it). Linear. */
export function parseSummary(text: string): ParsedSummary {
  const { blocks, openFence } = readBlocks(text);
  const topics = blocks.filter((block) => block.kind === 'topic').map(readTopic);
  const named = blocks.flatMap(({ project }) => (project === null || project === GLOBAL_SCOPE ? [] : [project]));
  const document = { blocks, topics, projects: [...new Set(named)] };
  return { document, lastLine: text.split('\n').length, openFence };
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

function readBlocks(text: string): { readonly blocks: readonly SummaryBlock[]; readonly openFence: number | null } {
  const blocks: OpenBlock[] = [];
  let place = OUTSIDE;
  let openFence: number | null = null;
  for (const [at, line] of text.split('\n').entries()) {
    const last = blocks.at(-1);
    const fence = /^\s*(?:```|~~~)/.test(line);
    const continues =
      openFence !== null || line.trim() === '' || (/^[ \t]/.test(line) && last !== undefined && last.level === 0);
    if (fence) openFence = openFence === null ? at + 1 : null;
    if (continues && last !== undefined) {
      last.lines.push(line);
      continue;
    }
    const level = /^#{2,4}(?=[ \t])/.exec(line)?.[0].length ?? 0;
    if (level > 0) place = enter(place, level, line.slice(level).trim());
    blocks.push({
      kind: level > 0 ? 'heading' : kindOf(line, at, place),
      level,
      ...place,
      line: at + 1,
      lines: [line],
    });
  }
  const owned = blocks.map((block) =>
    block.older && block.kind === 'topic' ? { ...block, project: olderOwner(block) } : block,
  );
  return { blocks: owned, openFence };
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
