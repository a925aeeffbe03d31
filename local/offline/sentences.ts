const MAX_QUOTE = 200;

/**
 * The sentences of a person's text, each a verbatim piece of it. Code blocks and quoted lines are left out: they are mostly
 * pasted. A sentence ends at `.`, `!`, `?` before white space, at their wide forms, and at a line end.
 */
export function splitSentences(text: string): readonly string[] {
  return text
    .replace(/```[\s\S]*?(?:```|$)/g, '\n')
    .split('\n')
    .filter((line) => !/^\s*(?:>|\$ |at \S+ \()/.test(line))
    .flatMap(splitLine)
    .map((sentence) => sentence.trim().replace(/^(?:[-*•]|\d+[.)])\s+/, ''))
    .filter((sentence) => sentence !== '');
}

/** Splits at sentence ends, but not inside back ticks and not after an abbreviation or a number's dot. */
function splitLine(line: string): readonly string[] {
  const out: string[] = [];
  let start = 0;
  let inCode = false;
  for (let at = 0; at < line.length; at++) {
    const sign = line[at] ?? '';
    if (sign === '`') inCode = !inCode;
    const wide = '。！？'.includes(sign);
    const narrow = '.!?'.includes(sign) && /^(?:\s|$)/.test(line.slice(at + 1));
    if (inCode || (!wide && !narrow)) continue;
    if (/\b(?:z\.B|e\.g|i\.e|bzw|etc|vs|ca|\d)\.$/i.test(line.slice(start, at + 1))) continue;
    out.push(line.slice(start, at + 1));
    start = at + 1;
  }
  out.push(line.slice(start));
  return out;
}

/** A quote of at most 200 characters, cut at a space where one is near; `…` outside the quotes tells of a cut. */
export function quote(sentence: string): string {
  if (sentence.length <= MAX_QUOTE) return `"${sentence}"`;
  const head = [...sentence].slice(0, MAX_QUOTE).join('');
  const space = head.lastIndexOf(' ');
  return `"${head.slice(0, space > MAX_QUOTE / 2 ? space : undefined).trimEnd()}" …`;
}

/** Lower case, letters and digits only, polite words dropped: what two ways of writing one wish share. */
export function normalise(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\b(?:please|bitte|por favor|s'il (?:te|vous) plaît|actually|also|thanks|danke)\b/g, ' ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
