import type { ArtifactFault } from './artifact-fault.ts';
import { isCommand } from './find-commands.ts';
import { hasActiveMarkup } from './find-markup.ts';
import { findHidden } from './hidden-characters.ts';
import { parseSourceLine } from './source-line.ts';

/** What of a file need not be looked at again, or says nothing of its own. */
export interface TextContext {
  /** Lines that stand in the current version: they passed when they came, or a person wrote them. */
  readonly standing: ReadonlySet<string>;
  /** Directories and scope keys of the inputs: values that are copied, not written. */
  readonly known: ReadonlySet<string>;
}

export const NO_CONTEXT: TextContext = { standing: new Set(), known: new Set() };

const FAULTS = {
  'text.hidden': ['characters that nobody sees', 'write the line anew without invisible or control characters'],
  'text.markup': [
    'markup that is not plain text',
    'put it between backticks as data, or write it in words: no HTML that acts or hides, no comments, no images, no chat tokens',
  ],
  'text.command': [
    'the line tries to command the agent that reads it',
    'if it matters that somebody wrote this, quote it between backticks in a sentence that says who did and that it is data; else remove it',
  ],
  'text.stamp': [
    'a line that changes with every run',
    'remove when, how often or by whom the file was written: the version says so',
  ],
} as const;

const STAMP =
  /^[\s>*_#-]*(?:last (?:updated|modified|consolidated|generated|change)|generated|updated|consolidated|created|written)(?: (?:on|at|by))?[\s*_]*:?[\s*_]*(?:the )?(?:(?:consolidation|memory) (?:agent|run)|\d{4}-\d{2}-\d{2}|run \d+|version \d+)|^[\s>*_#-]*(?:memory |file )?(?:version|revision|run|consolidation)(?: number| no\.?)?[\s*_]*[:#][\s*_]*\d+[\s*_.]*$/i;

/**
 * Looks through an output for what a reader must not be given: hidden characters, markup that acts, lines that command the reader
 * (DV-20), stamps. Judged is each bullet, paragraph and heading with what belongs to it, so that a command is found over line ends.
 * A fault names the line on which its part begins. Linear.
 */
export function findTextFaults(path: string, text: string, context: TextContext): readonly ArtifactFault[] {
  return partsOf(text).flatMap((part) => judgePart(path, part, context));
}

interface Part {
  readonly line: number;
  readonly lines: readonly string[];
  readonly code: string;
}

function judgePart(path: string, part: Part, context: TextContext): readonly ArtifactFault[] {
  if (part.lines.every((line) => context.standing.has(line.trim()) || parseSourceLine(line) !== undefined)) return [];
  const text = part.lines.map((line) => ownWords(line, context.known)).join('\n');
  const code = findCode(text, part.code);
  if (code === undefined) return [];
  const [message, cure] = FAULTS[code];
  return [{ code, place: `${path}:${part.line}`, message, cure }];
}

/** @param code lines of a code block: text that is shown as it is, markup included */
function findCode(text: string, code: string): keyof typeof FAULTS | undefined {
  if (findHidden(text) >= 0 || findHidden(code) >= 0) return 'text.hidden';
  if (hasActiveMarkup(text)) return 'text.markup';
  if (isCommand(`${text}\n${code}`)) return 'text.command';
  return STAMP.test(text) ? 'text.stamp' : undefined;
}

/** Values that are copied from the inputs are not the agent's words. */
function ownWords(line: string, known: ReadonlySet<string>): string {
  if (known.has(line.replace(/^#{1,6} /, '').trim())) return '';
  if (!line.startsWith('applies_to:')) return line;
  return line.replace(/ (?:cwd|project)=([^;]*);/g, (whole, value: string) => (known.has(value.trim()) ? '' : whole));
}

/** Parts begin at a heading, at a bullet, and at a line that is not indented after a blank one. */
function partsOf(text: string): readonly Part[] {
  const parts: { line: number; lines: string[]; code: string }[] = [];
  let afterBlank = true;
  let fenced = false;
  for (const [at, line] of text.split('\n').entries()) {
    const fence = /^\s*(?:```|~~~)/.test(line);
    const last = parts.at(-1);
    const starts = /^#{1,6} |^\s*(?:[-*+]|\d{1,4}[.)]) /.test(line) || (afterBlank && !/^\s/.test(line));
    if (last === undefined || (!fenced && !fence && starts && line.trim() !== '')) {
      parts.push({ line: at + 1, lines: [line], code: '' });
    } else if (fenced && !fence) last.code += `${line}\n`;
    else if (!fence) last.lines.push(line);
    if (fence) fenced = !fenced;
    afterBlank = line.trim() === '';
  }
  return parts;
}
