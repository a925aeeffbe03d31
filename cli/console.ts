/** Where a command writes: results on stdout, progress and faults on stderr. */
export interface Console {
  readonly json: boolean;
  /** True when progress may be drawn over itself. */
  readonly interactive: boolean;
  out(text: string): void;
  note(text: string): void;
}

/** One JSON document, or the text made for a person. */
export function printResult(target: Console, result: unknown, text: () => string): void {
  target.out(target.json ? JSON.stringify(result, null, 2) : text());
}

/** Columns padded to their longest cell; the last one is left as it is. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  return rows
    .map((row) => row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join('  '))
    .join('\n');
}

/** Control characters (terminal escapes among them) in text that came from outside become visible. */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069]/gu, '\u{fffd}');
}

/** Shortens a cell at its end, or at its start where the end tells more (paths). */
export function clip(text: string, width: number, keep: 'start' | 'end' = 'start'): string {
  const characters = [...text];
  if (characters.length <= width) return text;
  const kept = keep === 'start' ? characters.slice(0, width - 1) : characters.slice(1 - width);
  return keep === 'start' ? `${kept.join('')}…` : `…${kept.join('')}`;
}
