/**
 * Carries a person's changes of memory_summary.md over to the next one: what they added stands again in its section, what
 * they took out stays out. `base` is what the rules had made before, `theirs` what stands there, `mine` what the rules make now.
 */
export function mergeSummary(base: string, theirs: string, mine: string): string {
  if (theirs === base || theirs === '') return mine;
  const [before, edited, next] = [units(base), units(theirs), units(mine)];
  const known = new Set(before.map(keyOf));
  const kept = new Set(edited.map(keyOf));
  const removed = new Set([...known].filter((key) => !kept.has(key)));
  const added = edited.filter((unit) => !known.has(keyOf(unit)) && unit.text !== '');
  const out = next.filter((unit) => !removed.has(keyOf(unit)) || unit.isHeading);
  for (const unit of added) {
    if (out.some((other) => keyOf(other) === keyOf(unit))) continue;
    const last = out.findLastIndex((other) => other.section === unit.section);
    if (unit.isHeading || last < 0) continue; // a section that the rules no longer make goes with its heading
    out.splice(last + 1, 0, unit);
  }
  return `${layOut(out).trimEnd()}\n`;
}

/** A heading, or a bullet or paragraph with what is indented below it. */
interface Unit {
  /** Headings above it, joined. */
  readonly section: string;
  readonly isHeading: boolean;
  readonly text: string;
}

function keyOf(unit: Unit): string {
  return `${unit.section}\n${unit.text}`;
}

function units(text: string): readonly Unit[] {
  const found: { section: string; isHeading: boolean; text: string }[] = [];
  const above: string[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const level = /^(#{2,4}) /.exec(line)?.[1]?.length;
    const last = found.at(-1);
    if (level !== undefined) {
      above.splice(level - 2);
      above.push(line);
      found.push({ section: above.join('\n'), isHeading: true, text: line });
    } else if (/^\s/.test(line) && last && !last.isHeading) last.text += `\n${line}`;
    else found.push({ section: above.join('\n'), isHeading: false, text: line });
  }
  return found;
}

function layOut(list: readonly Unit[]): string {
  let out = '';
  list.forEach((unit, at) => {
    const next = list[at + 1];
    const together = !unit.isHeading && next !== undefined && !next.isHeading && !unit.text.includes('\n');
    out += `${unit.text}\n${together && next.section !== '' && !next.text.includes('\n') ? '' : '\n'}`;
  });
  return out;
}
