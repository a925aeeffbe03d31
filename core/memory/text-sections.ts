import { isBlank } from '../text.ts';

/** Lines of a text that say one thing: what is ranked as one. Lines are counted from 0, the last one included. */
export interface TextSection {
  readonly first: number;
  readonly last: number;
  /** The headings that it stands under, outermost first. */
  readonly trail: readonly string[];
}

/**
 * Takes a text of Markdown apart: each heading with the lines right below it, and each bullet of the outermost level with what
 * is indented below it, is a section; so is each paragraph. Every line that is not blank lies in exactly one. Linear.
 * @param lines without their ends
 */
export function splitSections(lines: readonly string[]): readonly TextSection[] {
  const sections: { first: number; last: number; trail: readonly string[] }[] = [];
  const open: { level: number; title: string }[] = [];
  let afterBlank = false;
  let fenced = false;
  for (const [at, line] of lines.entries()) {
    const last = sections.at(-1);
    if (isBlank(line)) {
      afterBlank = true;
      continue;
    }
    const heading = fenced ? null : /^(#{1,6})[ \t]+(.*)$/.exec(line);
    const starts = last === undefined || heading !== null || (!fenced && startsSection(line, afterBlank));
    if (/^\s*(?:```|~~~)/.test(line)) fenced = !fenced;
    afterBlank = false;
    if (heading !== null) {
      const level = heading[1]?.length ?? 1;
      while ((open.at(-1)?.level ?? 0) >= level) open.pop();
      open.push({ level, title: heading[2]?.trim() ?? '' });
    }
    if (starts) sections.push({ first: at, last: at, trail: open.map(({ title }) => title) });
    else last.last = at;
  }
  return sections;
}

function startsSection(line: string, afterBlank: boolean): boolean {
  return /^[-*+] /.test(line) || (afterBlank && !/^\s/.test(line));
}
