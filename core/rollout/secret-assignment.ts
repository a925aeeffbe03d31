import { isClosed, type Quote, scanValue, skipQuote, skipSpace } from './quoted-text.ts';
import { isReference, isVariable, type ValueForm } from './secret-reference.ts';
import { REDACTED, WORD } from './secret-rules.ts';

/**
 * Values that are secret because of the name before them: `NAME_TOKEN=…`, `password: …`, `"apiKey": "…"`, and the same
 * inside JSON strings (`\"password\":\"…\"`), at any depth of escaping (behaviours U-01.4, DV-6).
 *
 * Written as a scanner, not as one pattern: every character is looked at a bounded number of times, and a value never
 * crosses a quote or splits an escape, so JSON stays JSON.
 */
const NAME =
  /client[_-]key[_-]data|(?:api[ _-]?|(?:access|secret|private|encryption|signing|auth|master|account|storage|service|subscription|client|license|shared[_-]?access|webhook|admin|deploy|consumer|session|jwt|hmac)[_-]?)key|_key|token|secret|(?:pg|db)?passw(?:or)?d|passphrase|(?:pg|db)?pass|pwd/giu;
const WORD_CHARACTER = new RegExp(`[${WORD}]`, 'u');
const PLAIN_KEYS = /(?:^|_)(?:PRIMARY|FOREIGN|PUBLIC|SORT|PARTITION|CACHE|UNIQUE|QUERY|OBJECT|INDEX|GROUP|ROW)_KEY$/;
/** Names whose value may be short when it is quoted. */
const PASSWORD_NAME = /passw(?:or)?d$|passphrase$|pass$|pwd$/i;
/** Those whose value may hold spaces too; longer names are often keys of messages to people. */
const PHRASE_NAME = /^(?:db[_-]?|user[_-]?|root[_-]?|admin[_-]?)?(?:passw(?:or)?d|passphrase|pwd)$/i;
const MIN_VALUE = 8;
const MIN_QUOTED_PASSWORD = 6;
const MIN_CONNECTION_PASSWORD = 3;
const MAX_PHRASE = 200;
interface Found {
  /** Where the value starts and ends. */
  readonly from: number;
  readonly to: number;
}

interface Name {
  readonly text: string;
  /** End of the name in the text. */
  readonly end: number;
  readonly flag: boolean;
  readonly upper: boolean;
  /** The name of an element: `<password>…</password>`. */
  readonly element: boolean;
}

/**
 * Replaces the values of secret names.
 * @returns the text, and how many values were replaced
 */
export function redactAssignments(text: string): { text: string; count: number } {
  const parts: string[] = [];
  let copied = 0;
  let count = 0;
  NAME.lastIndex = 0;
  for (let hit = NAME.exec(text); hit !== null; hit = NAME.exec(text)) {
    const found = valueAfter(text, hit.index, hit[0]);
    if (!found) continue;
    parts.push(text.slice(copied, found.from), REDACTED);
    copied = found.to;
    NAME.lastIndex = found.to;
    count++;
  }
  if (count === 0) return { text, count };
  parts.push(text.slice(copied));
  return { text: parts.join(''), count };
}

function valueAfter(text: string, start: number, keyword: string): Found | undefined {
  const name = nameAt(text, start, keyword);
  if (!name) return undefined;
  const quoted = skipQuote(text, name.end);
  const afterName = skipSpace(text, text[quoted.at] === ']' ? quoted.at + 1 : quoted.at);
  if (name.element && text[name.end] === '>') return elementValue(text, name.end + 1);
  const separator = separatorAt(text, afterName);
  if (separator === 0) return apartValue(text, name, { quoted, afterName });
  const typed = text[afterName] === ':' ? skipTypeAnnotation(text, afterName + separator) : afterName + separator;
  const valueAt = skipSpace(text, typed);
  const open = skipQuote(text, skipStringPrefix(text, valueAt));
  if (open.quote !== '') return quotedValue(text, name, open);
  if (quoted.quote !== '' && text[quoted.at] !== ']') return undefined; // in JSON this is a number, a literal or a structure
  const sign = text.charAt(afterName);
  return plainValue(text, name, {
    at: valueAt,
    tight: sign === '=' && valueAt === name.end + 1,
    colon: sign === ':',
  });
}

/** A value that no sign stands before: the next argument (`--token x`, `"--token", "x"`), or the next cell of a table. */
function apartValue(
  text: string,
  name: Name,
  behind: { readonly quoted: Quote; readonly afterName: number },
): Found | undefined {
  const { quoted, afterName } = behind;
  const sign = text.charAt(afterName);
  if (name.flag && quoted.quote === '') return afterName > name.end ? flagValue(text, afterName) : undefined;
  if (name.flag ? sign !== ',' : sign !== '|' || !name.upper) return undefined;
  const at = skipSpace(text, afterName + 1);
  return name.flag && skipQuote(text, at).quote === '' ? undefined : flagValue(text, at, name.flag ? undefined : '|');
}

/** The whole name that ends in the keyword, where the keyword is a word of it. */
function nameAt(text: string, start: number, keyword: string): Name | undefined {
  let end = start + keyword.length;
  const ending = /^(?:_?\d{1,2}|_base)/i.exec(text.slice(end, end + 5));
  if (ending) end += ending[0].length;
  if (isWordAt(text, end)) return undefined;
  if (!startsWord(text, start)) return undefined;
  let from = start;
  while (from > 0 && start - from < 64 && /[\w-]/.test(text.charAt(from - 1))) from--;
  const whole = text.slice(from, end);
  const upper = /^[A-Z0-9_]+$/.test(whole);
  if (/^_key$/i.test(keyword) && (!upper || from === start || PLAIN_KEYS.test(whole))) return undefined;
  if (whole.startsWith('REDACTED_') || isOfArn(text, from, end)) return undefined;
  if (/^(?:pg|db)?pass$/i.test(keyword) && !isPassName(whole, text.charAt(end))) return undefined;
  return { text: whole, end, flag: whole.startsWith('--'), upper, element: text[from - 1] === '<' };
}

/** The kind of a resource: `arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db` names a secret, and is none. */
function isOfArn(text: string, from: number, end: number): boolean {
  const isPart = text[from - 1] === ':' && text[end] === ':';
  return (
    isPart && /arn:aws[\w-]{0,12}:secretsmanager:[\w-]{0,30}:\d{0,12}:$/.test(text.slice(Math.max(0, from - 96), from))
  );
}

/** `PASS` alone is what test runners print; it is a name as part of one (`DB_PASS`, `smtp_pass`) and as a key (`"pass"`). */
function isPassName(whole: string, after: string): boolean {
  return whole.length > 'pass'.length ? /(?:^|[_-])(?:pg|db)?pass$/i.test(whole) : /["'\\]/.test(after);
}

function startsWord(text: string, start: number): boolean {
  const first = text.charAt(start);
  if (first === '_' || !isWordBefore(text, start)) return true;
  const before = text.charAt(start - 1);
  if (before === '_') return true;
  if (/[nrtbf]/.test(before) && text[start - 2] === '\\') return true;
  return /[A-Z]/.test(first) && /[a-z0-9]/.test(before);
}

/** Length of the sign between a name and its value; 0 where there is none. */
function separatorAt(text: string, at: number): number {
  const sign = text.charAt(at);
  const next = text.charAt(at + 1);
  if (sign === ':') return next === ':' ? 0 : next === '=' ? 2 : 1;
  if (sign === '=') return next === '>' ? 2 : next === '=' ? (text[at + 2] === '=' ? 3 : 2) : 1;
  return 0;
}

/** `token: string = "…"`: the value is behind the type. */
function skipTypeAnnotation(text: string, at: number): number {
  const annotation = /^\s{0,4}&?(?:'static )?[A-Za-z_][\w<>[\]|. ]{0,40}= {0,4}(?=\\*["'`])/.exec(
    text.slice(at, at + 64),
  );
  return annotation ? at + annotation[0].length : at;
}

/** `b"…"`, `f'…'`, `@"…"`. */
function skipStringPrefix(text: string, at: number): number {
  const prefix = /^(?:[rbfu]{1,2}|[@$])(?=\\*["'`])/i.exec(text.slice(at, at + 12));
  return prefix ? at + prefix[0].length : at;
}

function quotedValue(text: string, name: Name, open: Quote): Found | undefined {
  if (isClosed(text, open)) return undefined;
  if (PASSWORD_NAME.test(name.text)) {
    const phrase = { from: open.at, to: scanValue(text, open.at, { opening: open, maxUnits: MAX_PHRASE + 1 }) };
    const closing = skipQuote(text, phrase.to);
    const closed = closing.quote === open.quote && closing.depth === open.depth;
    const length = phrase.to - phrase.from;
    const spaced = text.slice(phrase.from, phrase.to).includes(' ');
    if (closed && length >= MIN_QUOTED_PASSWORD && length <= MAX_PHRASE && (!spaced || PHRASE_NAME.test(name.text))) {
      return unlessReference(text, phrase, 'quoted');
    }
  }
  const run = { from: open.at, to: scanValue(text, open.at, { opening: open }) };
  return run.to - run.from >= MIN_VALUE ? unlessReference(text, run, 'quoted') : undefined;
}

interface Place {
  readonly at: number;
  /** `NAME=value`, without a space. */
  readonly tight: boolean;
  readonly colon: boolean;
}

function plainValue(text: string, name: Name, place: Place): Found | undefined {
  const full = scanValue(text, place.at, {});
  let to = full;
  while (to > place.at && ',;)]}'.includes(text.charAt(to - 1))) to--;
  if (to - place.at < (isConnectionPart(text, name, place) ? MIN_CONNECTION_PASSWORD : MIN_VALUE)) return undefined;
  const found = { from: place.at, to };
  if (to - place.at > MAX_PHRASE) return found;
  const value = text.slice(found.from, to);
  if (/^(?:old)?pwd$/i.test(name.text) && /^(?:[/~.]|[A-Za-z]:)/.test(value)) return undefined; // the working directory
  if (name.upper && place.tight) return unlessReference(text, found, 'shell');
  if (/_key$/i.test(name.text) && name.upper && !/\d/.test(value)) return undefined;
  if (value.endsWith(':') || (place.colon && /^(?:[A-Z][a-z]+){2,}$/.test(value))) return undefined; // a YAML key, a type
  if (isVariable(value) && (full > to || !place.tight)) return undefined;
  return unlessReference(text, found, 'code');
}

/** `;Password=…;` and `?password=…&`: what stands there is nothing but a password, however short. */
function isConnectionPart(text: string, name: Name, place: Place): boolean {
  return place.tight && PHRASE_NAME.test(name.text) && /[;?&]/.test(text.charAt(name.end - name.text.length - 1));
}

function elementValue(text: string, from: number): Found | undefined {
  const to = scanValue(text, from, { until: '<' });
  return to - from >= MIN_QUOTED_PASSWORD && text[to] === '<'
    ? unlessReference(text, { from, to }, 'quoted')
    : undefined;
}

/** @param until a character that ends the value too */
function flagValue(text: string, at: number, until = ''): Found | undefined {
  const open = skipQuote(text, at);
  if (open.quote !== '' && isClosed(text, open)) return undefined;
  const from = open.quote === '' ? at : open.at;
  const to = scanValue(text, from, open.quote === '' ? { until } : { opening: open });
  if (to - from < MIN_VALUE || !/\d/.test(text.slice(from, to))) return undefined;
  return unlessReference(text, { from, to }, 'shell');
}

function unlessReference(text: string, found: Found, form: ValueForm): Found | undefined {
  if (found.to - found.from > MAX_PHRASE) return found;
  return isReference(text.slice(found.from, found.to), form) ? undefined : found;
}

function isWordAt(text: string, at: number): boolean {
  const point = text.codePointAt(at);
  return point !== undefined && WORD_CHARACTER.test(String.fromCodePoint(point));
}

function isWordBefore(text: string, at: number): boolean {
  if (at === 0) return false;
  const low = text.charCodeAt(at - 1);
  const pair = low >= 0xdc00 && low < 0xe000 && at > 1;
  return WORD_CHARACTER.test(text.slice(pair ? at - 2 : at - 1, at));
}
