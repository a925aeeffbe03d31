import { redactJsonWebKeys, redactPemBlocks, redactPuttyKeys } from './private-keys.ts';
import { redactAssignments } from './secret-assignment.ts';
import { redactCommands, redactPasswordFiles } from './secret-commands.ts';
import { hasEscapedAscii, redactBase64, unescapeAscii } from './secret-encoded.ts';
import { redactHeaders } from './secret-headers.ts';
import { redactProse } from './secret-prose.ts';
import { isCodeReference } from './secret-reference.ts';
import { REDACTED, SECRET_RULES, type SecretRule, WORD } from './secret-rules.ts';
import type { CountSecrets } from './secret-spans.ts';
import { TOKEN_RULES } from './secret-tokens.ts';

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
  if (!hasEscapedAscii(text)) return redactPlain(text);
  const unescaped = redactPlain(unescapeAscii(text));
  if (holdsAny(unescaped)) return unescaped;
  const plain = redactPlain(text);
  return holdsAny(plain) ? { text: redactPlain(unescapeAscii(plain.text)).text, found: plain.found } : plain;
}

function holdsAny(redaction: Redaction): boolean {
  return Object.keys(redaction.found).length > 0;
}

function redactPlain(text: string): Redaction {
  const tally = new Tally();
  const encoded = redactBase64(text, holdsSecret, tally.count);
  return { text: redactReadable(encoded, tally.count), found: tally.found };
}

function holdsSecret(text: string): boolean {
  const tally = new Tally();
  redactReadable(text, tally.count);
  return Object.keys(tally.found).length > 0;
}

/** Counts by kind. */
class Tally {
  readonly found: Record<string, number> = {};
  readonly count: CountSecrets = (kind, times) => {
    if (times > 0) this.found[kind] = (this.found[kind] ?? 0) + times;
  };
}

/** All passes but those that look through an encoding; keys first, then what is known by its surroundings. */
function redactReadable(text: string, count: CountSecrets): string {
  let current = redactJsonWebKeys(redactPuttyKeys(redactPemBlocks(text, count), count), count);
  for (const rule of ALL_RULES) {
    if (rule.hints.some((hint) => current.includes(hint))) current = applyRule(current, rule, count);
  }
  current = redactHeaders(redactBearer(current, count), count);
  current = redactPasswordFiles(redactCommands(current, count), count);
  const named = redactAssignments(current);
  count('named_secret', named.count);
  return redactProse(named.text, count);
}

const ALL_RULES: readonly SecretRule[] = [...SECRET_RULES, ...TOKEN_RULES];

function applyRule(text: string, rule: SecretRule, count: CountSecrets): string {
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

function redactBearer(text: string, count: CountSecrets): string {
  let times = 0;
  const result = text.replace(BEARER, (match: string, token: string) => {
    if (isCodeReference(token)) return match;
    times++;
    return `Bearer ${REDACTED}`;
  });
  count('bearer_token', times);
  return result;
}
