/**
 * The citation block that an agent puts at the end of its answer (behaviours 1.O): hidden from the person, read for usage.
 */
const OPEN = '<oai-mem-citation>';
const CLOSE = '</oai-mem-citation>';
const MAX_LINE = 0xffff_ffff;

/** One cited place. Neither order nor existence of the lines is checked (O-05). Named as on the wire. */
export interface CitationEntry {
  readonly path: string;
  readonly line_start: number;
  readonly line_end: number;
  readonly note: string;
}

export interface Citation {
  readonly entries: readonly CitationEntry[];
  /** As written, de-duplicated in first-seen order. */
  readonly rollout_ids: readonly string[];
}

/**
 * Takes citation blocks out of a text that arrives in pieces (behaviours O-01, O-02). Everything from an open tag to the next
 * close tag is hidden; tags are exact and do not nest. What may be the start of a tag is held back until it is known.
 */
export class CitationStripper {
  readonly #blocks: string[] = [];
  /** Text that is not decided yet: always shorter than a tag after `push`. */
  #held = '';
  /** Pieces of the open block; undefined outside of one. */
  #block: string[] | undefined;

  /** Contents of the blocks that have ended, in order. */
  get blocks(): readonly string[] {
    return this.#blocks;
  }

  /** @returns what of the text so far can be shown now */
  push(chunk: string): string {
    let visible = '';
    let rest = this.#held + chunk;
    for (;;) {
      const tag = this.#block === undefined ? OPEN : CLOSE;
      const at = rest.indexOf(tag);
      const end = at < 0 ? rest.length - tagStartLength(rest, tag) : at;
      if (this.#block === undefined) visible += rest.slice(0, end);
      else this.#block.push(rest.slice(0, end));
      if (at < 0) {
        this.#held = rest.slice(end);
        return visible;
      }
      this.#toggle();
      rest = rest.slice(at + tag.length);
    }
  }

  /** Ends the text: an open block ends with it, and an incomplete open tag is shown. @returns what is left to show */
  finish(): string {
    const rest = this.#held;
    this.#held = '';
    if (this.#block === undefined) return rest;
    this.#block.push(rest);
    this.#toggle();
    return '';
  }

  #toggle(): void {
    if (this.#block === undefined) this.#block = [];
    else {
      this.#blocks.push(this.#block.join(''));
      this.#block = undefined;
    }
  }
}

/** Length of the longest end of `text` that is a true start of `tag`. */
function tagStartLength(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length--) {
    if (tag.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}

/** Splits a whole text into what a person sees and what it cites. */
export function readCitations(text: string): { readonly visibleText: string; readonly citation: Citation | null } {
  const stripper = new CitationStripper();
  const visibleText = stripper.push(text) + stripper.finish();
  return { visibleText, citation: parseCitations(stripper.blocks) };
}

/**
 * Reads the contents of citation blocks (behaviours O-04..O-07): per block the first section of entries and the first of
 * ids. A line that is no entry is dropped alone.
 * @returns null when nothing was found
 */
export function parseCitations(blocks: readonly string[]): Citation | null {
  const entries = blocks.flatMap((block) => linesOf(findSection(block, 'citation_entries') ?? '').flatMap(parseEntry));
  const ids = blocks.flatMap((block) =>
    linesOf(findSection(block, 'rollout_ids') ?? findSection(block, 'thread_ids') ?? ''),
  );
  if (entries.length === 0 && ids.length === 0) return null;
  return { entries, rollout_ids: [...new Set(ids)] };
}

/** Text of the first such section; undefined when it is absent or not closed. */
function findSection(block: string, name: string): string | undefined {
  const open = block.indexOf(`<${name}>`);
  if (open < 0) return undefined;
  const start = open + name.length + 2;
  const end = block.indexOf(`</${name}>`, start);
  return end < 0 ? undefined : block.slice(start, end);
}

function linesOf(section: string): string[] {
  return section.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}

/** `<path>:<first>-<last>|note=[<note>]` */
function parseEntry(line: string): CitationEntry[] {
  const mark = line.lastIndexOf('|note=[');
  if (mark < 0 || !line.endsWith(']')) return [];
  const location = line.slice(0, mark);
  const colon = location.lastIndexOf(':');
  const range = location.slice(colon + 1);
  const dash = range.indexOf('-');
  if (colon < 0 || dash < 0) return [];
  const first = parseLineNumber(range.slice(0, dash));
  const last = parseLineNumber(range.slice(dash + 1));
  if (first === undefined || last === undefined) return [];
  const note = line.slice(mark + '|note=['.length, -1).trim();
  return [{ path: location.slice(0, colon).trim(), line_start: first, line_end: last, note }];
}

/** An unsigned 32-bit number. */
function parseLineNumber(text: string): number | undefined {
  const digits = text.trim();
  const number = /^[0-9]+$/.test(digits) ? Number(digits) : Number.NaN;
  return number <= MAX_LINE ? number : undefined;
}
