/** Finding one's way in text whose quotes may be escaped at any depth: JSON within JSON strings. Every scan is linear. */
export interface Quote {
  /** Behind the quote, or where it would have been. */
  readonly at: number;
  readonly quote: string;
  /** Back slashes before it: the depth of escaping. */
  readonly depth: number;
}

export function skipQuote(text: string, at: number): Quote {
  const end = skipBackSlashes(text, at);
  const quote = text.charAt(end);
  if (quote !== '' && '"\'`'.includes(quote)) return { at: end + 1, quote, depth: end - at };
  return { at, quote: '', depth: 0 };
}

/** White space, also as JSON escapes (TC-272), and colours of a terminal. */
export function skipSpace(text: string, at: number): number {
  let end = at;
  for (;;) {
    const unit = text.charAt(end);
    if (/\s/.test(unit)) end++;
    else if (unit === '\\' || unit === '\u001b') {
      const letter = unit === '\\' ? skipBackSlashes(text, end) : end + 1;
      const colour = COLOUR.exec(text.slice(letter, letter + COLOUR_UNITS));
      if (colour) end = letter + colour[0].length;
      else if (unit === '\\' && /[nrt]/.test(text.charAt(letter))) end = letter + 1;
      else return end;
    } else return end;
  }
}

/** The rest of a colour code, behind its escape character or the back slash that one is written with. */
const COLOUR = /^(?:u001b|x1b|033|e)?\[[0-9;]{0,12}m/i;
const COLOUR_UNITS = 20;

function skipBackSlashes(text: string, at: number): number {
  let end = at;
  while (text[end] === '\\') end++;
  return end;
}

/** What looked like an opening quote was a closing one: a structure goes on behind it. */
export function isClosed(text: string, quote: Quote): boolean {
  return /^[\s,:}\]]?$/.test(text.charAt(quote.at));
}

export interface Scan {
  /** The quote that the value stands in. */
  readonly opening?: Quote;
  /** Given: spaces belong to the value, and the scan ends after so many units. */
  readonly maxUnits?: number;
  /** A character that ends the value too. */
  readonly until?: string;
}

/** The end of a value: white space, a quote, either of them escaped, the next query parameter; never within an escape. */
export function scanValue(text: string, from: number, scan: Scan): number {
  const limit = Math.min(text.length, from + (scan.maxUnits ?? text.length));
  let at = from;
  while (at < limit) {
    const unit = text.charAt(at);
    if (unit === '\\') {
      const end = skipBackSlashes(text, at);
      const next = text.charAt(end);
      const quote = isAnyQuote(next);
      if (next === '' || /[\snrt]/.test(next)) return at;
      if (quote) {
        const meaning = quoteMeaning(end - at, scan.opening);
        if (meaning !== 'inner') return meaning === 'closing' ? end - (scan.opening?.depth ?? 0) : at;
        at = end + 1;
      } else at = end;
      continue;
    }
    if (isClosing(unit, scan.opening?.quote) || unit === scan.until) return at;
    if (/\s/.test(unit) && !(scan.maxUnits !== undefined && unit === ' ')) return at;
    if (unit === '&' && scan.opening === undefined && /^&[\w.-]{1,64}=/.test(text.slice(at, at + 66))) return at;
    at++;
  }
  return at;
}

/**
 * What a quote behind `count` back slashes is for a value that was opened at some depth of escaping: each depth doubles the
 * back slashes of the one outside it, so the remainder tells an escaped quote of the value from the one that ends it.
 */
function quoteMeaning(count: number, opening: Quote | undefined): 'inner' | 'closing' | 'other' {
  if (opening === undefined) return 'other';
  const unit = opening.depth + 1;
  const rest = count % (2 * unit);
  return rest === 2 * unit - 1 ? 'inner' : rest === opening.depth ? 'closing' : 'other';
}

function isAnyQuote(unit: string): boolean {
  return unit === '"' || unit === "'" || unit === '`';
}

/** Within double quotes the others are plain characters; a double quote always ends, so that no JSON string is left. */
function isClosing(unit: string, opening: string | undefined): boolean {
  if (unit === '"' || opening === undefined) return isAnyQuote(unit);
  return unit === opening;
}
