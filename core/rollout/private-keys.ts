import { REDACTED } from './secret-rules.ts';
import type { CountSecrets } from './secret-spans.ts';

const PEM_BEGIN = '-----BEGIN ';
const PEM_END = '-----END ';
const PEM_HEADER = /^-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----/;
const PEM_FOOTER = /^-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----/;
const PEM_LINE = /(?:\s|\\+[nrt]){0,8}(?:[A-Za-z0-9+/=]|\\\/){16,}/y;
const PEM_MAX_UNITS = 20_000;

/** Private keys in PEM armour, with real or escaped line ends; of a block without its end, the lines that are key text. */
export function redactPemBlocks(text: string, count: CountSecrets): string {
  const parts: string[] = [];
  let copied = 0;
  for (let at = text.indexOf(PEM_BEGIN); at >= 0; at = text.indexOf(PEM_BEGIN, Math.max(at + 1, copied))) {
    const header = PEM_HEADER.exec(text.slice(at, at + 96));
    if (!header) continue;
    const body = at + header[0].length;
    const end = pemFooterEnd(text, body) ?? pemLinesEnd(text, body);
    if (end === body) continue; // the header alone, as in documentation
    parts.push(text.slice(copied, at), REDACTED);
    copied = end;
    count('private_key', 1);
  }
  if (parts.length === 0) return redactPemTails(text, count);
  parts.push(text.slice(copied));
  return redactPemTails(parts.join(''), count);
}

const PEM_PIECE = /\\+[nrt]|[A-Za-z0-9+/=]+|\s+|./gs;
const PEM_TAIL_UNITS = 16;

/** Ends of blocks whose start was cut off, as `tail` shows them: the lines of key text before a footer. */
function redactPemTails(text: string, count: CountSecrets): string {
  const parts: string[] = [];
  let copied = 0;
  for (let at = text.indexOf(PEM_END); at >= 0; at = text.indexOf(PEM_END, at + 1)) {
    const footer = PEM_FOOTER.exec(text.slice(at, at + 96));
    if (!footer) continue;
    const from = pemLinesStart(text, Math.max(copied, at - PEM_MAX_UNITS), at);
    if (from < at) {
      parts.push(text.slice(copied, from), REDACTED);
      count('private_key', 1);
    } else parts.push(text.slice(copied, at), footer[0]);
    copied = at + footer[0].length;
  }
  if (parts.length === 0) return text;
  parts.push(text.slice(copied));
  return parts.join('');
}

/** Where the lines of key text begin that end at `to`; only the last of them may be short. */
function pemLinesStart(text: string, from: number, to: number): number {
  const pieces = [...text.slice(from, to).matchAll(PEM_PIECE)].toReversed();
  let start = to;
  let isLast = true;
  for (const piece of pieces) {
    if (/^[\s\\]/.test(piece[0])) continue;
    const isKeyText = /^[A-Za-z0-9+/]+={0,2}$/.test(piece[0]);
    if (!isKeyText || (!isLast && piece[0].length < PEM_TAIL_UNITS)) return start;
    if (piece[0].length >= PEM_TAIL_UNITS) start = from + piece.index;
    isLast = false;
  }
  return start;
}

/** Behind the footer of the block, where it stands in the same string. */
function pemFooterEnd(text: string, from: number): number | undefined {
  const limit = Math.min(text.length, from + PEM_MAX_UNITS);
  for (let at = from; at < limit; at++) {
    const unit = text.charAt(at);
    if (unit === '"') return undefined;
    if (unit === '\\') {
      while (text[at + 1] === '\\') at++;
      if (!/[nrt/]/.test(text.charAt(at + 1))) return undefined;
    }
    if (unit !== '-') continue;
    if (text.startsWith(PEM_BEGIN, at)) return undefined;
    if (!text.startsWith(PEM_END, at)) continue;
    const footer = PEM_FOOTER.exec(text.slice(at, at + 96));
    return footer ? at + footer[0].length : undefined;
  }
  return undefined;
}

function pemLinesEnd(text: string, from: number): number {
  PEM_LINE.lastIndex = from;
  let end = from;
  while (PEM_LINE.test(text)) end = PEM_LINE.lastIndex;
  return end;
}

const PUTTY_HEADER = /Private-Lines: {0,2}(\d{1,3})/g;
const PUTTY_LINE = /(?:\s|\\+[nrt]){1,8}[A-Za-z0-9+/]{1,80}={0,2}(?![^\s\\"'])/y;

/** The key lines of a PuTTY file; how many there are stands before them. */
export function redactPuttyKeys(text: string, count: CountSecrets): string {
  if (!text.includes('Private-Lines:')) return text;
  const parts: string[] = [];
  let copied = 0;
  for (const header of text.matchAll(PUTTY_HEADER)) {
    const from = header.index + header[0].length;
    if (from < copied) continue;
    PUTTY_LINE.lastIndex = from;
    let end = from;
    for (let left = Number(header[1]); left > 0 && PUTTY_LINE.test(text); left--) end = PUTTY_LINE.lastIndex;
    if (end === from) continue;
    parts.push(text.slice(copied, from), ` ${REDACTED}`);
    copied = end;
    count('private_key', 1);
  }
  parts.push(text.slice(copied));
  return parts.join('');
}

/** The private members of a JSON Web Key (RFC 7518, section 6), at any depth of escaping. */
const JWK_MEMBER = /(?<=["'](?:d|p|q|dp|dq|qi|k)\\{0,15}["'] ?: ?\\{0,15}["'])[A-Za-z0-9_-]{22,}/g;

export function redactJsonWebKeys(text: string, count: CountSecrets): string {
  if (!/["']kty\\{0,15}["']/.test(text)) return text;
  let times = 0;
  const result = text.replace(JWK_MEMBER, () => {
    times++;
    return REDACTED;
  });
  count('private_key', times);
  return result;
}
