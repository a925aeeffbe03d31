import { redactAssignments } from './secret-assignment.ts';
import { isCodeReference } from './secret-reference.ts';
import { REDACTED, SECRET_RULES, type SecretRule, WORD } from './secret-rules.ts';

export interface Redaction {
  readonly text: string;
  /** How many secrets of each kind were replaced; never their values. */
  readonly found: Readonly<Record<string, number>>;
}

/**
 * Replaces secrets by `[REDACTED_SECRET]` (behaviours 1.U; where they differ, DV-6 wins). Works on any text, also on JSON
 * text, JSON within JSON strings, and cut texts; valid JSON stays valid. Linear in the length of the text, idempotent.
 */
export function redact(text: string): string {
  return redactCounted(text).text;
}

/** As `redact`, with a count of what was replaced. */
export function redactCounted(text: string): Redaction {
  const found: Record<string, number> = {};
  const count = (kind: string, times: number): void => {
    if (times > 0) found[kind] = (found[kind] ?? 0) + times;
  };
  let current = redactPemBlocks(text, count);
  for (const rule of SECRET_RULES) {
    if (rule.hints.some((hint) => current.includes(hint))) current = applyRule(current, rule, count);
  }
  current = redactBearer(current, count);
  const named = redactAssignments(current);
  count('named_secret', named.count);
  return { text: named.text, found };
}

type Count = (kind: string, times: number) => void;

function applyRule(text: string, rule: SecretRule, count: Count): string {
  let times = 0;
  const result = text.replace(rule.pattern, (match) => {
    const replacement = rule.replace ? rule.replace(match) : REDACTED;
    if (replacement !== match) times++;
    return replacement;
  });
  count(rule.kind, times);
  return result;
}

/** U-01.3, with every character that a bearer token may have (RFC 6750). */
const BEARER = new RegExp(
  `(?:(?<![${WORD}])|(?<=\\\\[nrtbf]))bearer(?:\\s|\\\\+[nrt]){1,16}([A-Za-z0-9._~+/-]{16,}(?<=[A-Za-z0-9_])=*)`,
  'giu',
);

function redactBearer(text: string, count: Count): string {
  let times = 0;
  const result = text.replace(BEARER, (match: string, token: string) => {
    if (isCodeReference(token)) return match;
    times++;
    return `Bearer ${REDACTED}`;
  });
  count('bearer_token', times);
  return result;
}

const PEM_BEGIN = '-----BEGIN ';
const PEM_END = '-----END ';
const PEM_HEADER = /^-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----/;
const PEM_FOOTER = /^-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----/;
const PEM_LINE = /(?:\s|\\+[nrt]){0,8}(?:[A-Za-z0-9+/=]|\\\/){16,}/y;
const PEM_MAX_UNITS = 20_000;

/** Private keys in PEM armour, with real or escaped line ends; of a block without its end, the lines that are key text. */
function redactPemBlocks(text: string, count: Count): string {
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
  if (parts.length === 0) return text;
  parts.push(text.slice(copied));
  return parts.join('');
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
