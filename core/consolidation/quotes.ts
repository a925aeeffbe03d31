/** Stands where a quote stood. */
export const QUOTED = '¤';
const PAIRS: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['“', '”'],
  ['„', '“'],
  ['«', '»'],
  ['「', '」'],
  ['『', '』'],
]);

/** A text with its code spans and quotes replaced by a mark; what is opened and never closed is no quote. Linear. */
export function withoutQuotes(text: string): string {
  return dropQuotes(withoutCode(text));
}

/** A text with its code spans (CommonMark: runs of backticks of equal length) replaced by a mark. */
export function withoutCode(text: string): string {
  const runs = [...text.matchAll(/`+/g)];
  const next = new Map<number, number>();
  const closing = runs.map(() => -1);
  for (let at = runs.length - 1; at >= 0; at--) {
    const length = runs[at]?.[0].length ?? 0;
    closing[at] = next.get(length) ?? -1;
    next.set(length, at);
  }
  let out = '';
  let from = 0;
  for (let at = 0; at < runs.length; at++) {
    const close = closing[at] ?? -1;
    const [open, end] = [runs[at], runs[close]];
    if (open === undefined || end === undefined) continue;
    out += `${text.slice(from, open.index)} ${QUOTED} `;
    from = end.index + end[0].length;
    at = close;
  }
  return out + text.slice(from);
}

function dropQuotes(text: string): string {
  const lastOf = new Map([...PAIRS.values()].map((mark) => [mark, text.lastIndexOf(mark)]));
  let out = '';
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    const closing = PAIRS.get(char);
    if (closing === undefined || (lastOf.get(closing) ?? -1) <= at) {
      out += char;
      continue;
    }
    at = text.indexOf(closing, at + 1);
    out += ` ${QUOTED} `;
  }
  return out;
}
