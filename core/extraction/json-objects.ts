/** What the grammar of JSON lets follow. `comma`: after a value, where its container may also end. */
type Wanted = 'value' | 'first_value' | 'first_key' | 'key' | 'colon' | 'comma';

const BROKEN = -1;
const ARRAY = -1;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPED = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;
const [QUOTE, BACKSLASH, SPACE] = [0x22, 0x5c, 0x20];

/**
 * The outermost complete JSON objects in a text, in order; braces of prose are passed over. Takes time in proportion to the
 * text: where a reading breaks off, what it has learnt of the objects within is kept. At most two readings go over the same
 * place, since of two that tell strings from the rest alike the later began within the earlier.
 */
export function findJsonObjects(text: string): readonly unknown[] {
  const objects: unknown[] = [];
  const known = new Map<number, number>();
  let at = text.indexOf('{');
  while (at !== -1) {
    const end = known.get(at) ?? readObject(text, at, known);
    if (end !== BROKEN) objects.push(JSON.parse(text.slice(at, end)));
    at = text.indexOf('{', end === BROKEN ? at + 1 : end);
  }
  return objects;
}

/**
 * Reads one object.
 * @param known gets where each object within it ends
 * @returns the place behind its brace, or `BROKEN`
 */
function readObject(text: string, start: number, known: Map<number, number>): number {
  const open: number[] = []; // where the objects within began that the place lies in, ARRAY for an array
  let inObject = true;
  let wanted: Wanted = 'first_key';
  let at = start + 1;
  for (;;) {
    const begin = skipSpace(text, at);
    const char = text[begin] ?? '';
    const next = wantedAfter(char, wanted, inObject);
    at = next === undefined ? BROKEN : tokenEnd(text, begin);
    if (next === undefined || at === BROKEN) break;
    wanted = next;
    if (char === '{' || char === '[') {
      inObject = char === '{';
      open.push(inObject ? begin : ARRAY);
    } else if (char === '}' || char === ']') {
      const began = open.pop();
      if (began === undefined) return at;
      if (inObject) known.set(began, at);
      inObject = open.length === 0 || open[open.length - 1] !== ARRAY;
    }
  }
  for (const began of open) if (began !== ARRAY) known.set(began, BROKEN);
  return BROKEN;
}

/** What is wanted after a token that begins with this character; undefined where such a token may not stand. */
function wantedAfter(char: string, wanted: Wanted, inObject: boolean): Wanted | undefined {
  switch (char) {
    case '}':
      return inObject && (wanted === 'comma' || wanted === 'first_key') ? 'comma' : undefined;
    case ']':
      return !inObject && (wanted === 'comma' || wanted === 'first_value') ? 'comma' : undefined;
    case ',':
      if (wanted !== 'comma') return undefined;
      return inObject ? 'key' : 'value';
    case ':':
      return wanted === 'colon' ? 'value' : undefined;
  }
  if (char === '"' && (wanted === 'key' || wanted === 'first_key')) return 'colon';
  if (wanted !== 'value' && wanted !== 'first_value') return undefined;
  if (char === '{') return 'first_key';
  return char === '[' ? 'first_value' : 'comma';
}

function tokenEnd(text: string, from: number): number {
  switch (text[from]) {
    case '"':
      return stringEnd(text, from);
    case '{':
    case '}':
    case '[':
    case ']':
    case ',':
    case ':':
      return from + 1;
  }
  SCALAR.lastIndex = from;
  return SCALAR.test(text) ? SCALAR.lastIndex : BROKEN;
}

/** @returns the place behind the closing quote of the string that begins at `from`; `BROKEN` where it is none */
function stringEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) return at + 1;
    if (unit < SPACE) return BROKEN;
    if (unit !== BACKSLASH) continue;
    ESCAPED.lastIndex = at + 1;
    if (!ESCAPED.test(text)) return BROKEN;
    at = ESCAPED.lastIndex - 1;
  }
  return BROKEN;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (let char = text[at]; char === ' ' || char === '\n' || char === '\t' || char === '\r'; char = text[at]) at++;
  return at;
}
