import { scanValue, skipQuote, skipSpace } from './quoted-text.ts';
import { isReference } from './secret-reference.ts';
import { REDACTED } from './secret-rules.ts';
import { type CountSecrets, replaceSpans, type SecretSpan } from './secret-spans.ts';

const HEADER = /authorization|cookie/gi;
const MAX_HEADER = 4_096;
/** Schemes whose credential is one word; others are believed when the word looks random. */
const SCHEME =
  /^(?:api-?key|auth|basic|bearer|bot|client-id|deepl-auth-key|dpop|genie-?key|hmac|jwt|key|klaviyo-api-key|negotiate|ntlm|splunk|sso-key|ssws|token|zoho-oauthtoken)$/i;
/** Parameters that hold what a scheme proves itself with (Digest, AWS4-HMAC-SHA256, Hawk, OAuth 1, HTTP signatures). */
const PROOF =
  /(?<=\b(?:signature|response|oauth_signature|oauth_token|mac|access_token|token|api-?key)\\{0,15} ?= ?\\{0,15}"?)[A-Za-z0-9+/=%_.~:-]{8,}/gi;
/** A scheme and the first of its parameters. */
const PARAMETERS = /^[\w-]{1,40} {1,4}[\w-]{1,40}\\{0,15} ?= ?\\{0,15}["\w]/;
const LINE_END = /[\n\r]|(?<!\\)\\+[nr]|authorization|cookie/i;
const COOKIE_PAIR = /([\w.-]{1,128})=([^;\s"'\\,]{6,})/g;
const COOKIE_ATTRIBUTE = /^(?:path|domain|expires|max-age|samesite|version|priority)$/i;

/** Credentials in `Authorization:`, `Cookie:` and `Set-Cookie:` headers, as lines, in JSON and in code. */
export function redactHeaders(text: string, count: CountSecrets): string {
  const spans: SecretSpan[] = [];
  HEADER.lastIndex = 0;
  for (let hit = HEADER.exec(text); hit !== null; hit = HEADER.exec(text)) {
    const value = headerValue(text, hit.index + hit[0].length);
    if (value === undefined) continue;
    const isCookie = hit[0].length === 'cookie'.length;
    const found = isCookie ? cookieSecrets(text, value) : authorizationSecrets(text, value);
    count(isCookie ? 'cookie' : 'authorization', found.length);
    spans.push(...found);
    HEADER.lastIndex = Math.max(HEADER.lastIndex, value.to);
  }
  return replaceSpans(text, spans);
}

/** What stands behind the name of a header, up to the end of its line or string. */
function headerValue(text: string, nameEnd: number): SecretSpan | undefined {
  const closing = skipQuote(text, nameEnd);
  const sign = closing.at + (text[closing.at] === ' ' ? 1 : 0);
  const unit = text.charAt(sign);
  // `set("Authorization", "…")`, `--cookie "…"`
  const loose = (unit === ',' && closing.quote !== '') || (text[closing.at] === ' ' && isQuoted(text, sign));
  if (unit !== ':' && unit !== '=' && !loose) return undefined;
  let at = skipSpace(text, /[:=,]/.test(unit) ? sign + 1 : sign);
  if (text[at] === '[') at = skipSpace(text, at + 1);
  const open = skipQuote(text, at);
  if ((unit === '=' || loose) && open.quote === '') return undefined;
  const scan = open.quote === '' ? { maxUnits: MAX_HEADER } : { opening: open, maxUnits: MAX_HEADER };
  return { from: open.at, to: scanValue(text, open.at, scan) };
}

function isQuoted(text: string, at: number): boolean {
  return skipQuote(text, at).quote !== '';
}

function authorizationSecrets(text: string, value: SecretSpan): readonly SecretSpan[] {
  const whole = text.slice(value.from, value.to);
  if (whole.includes(REDACTED)) return [];
  const [, scheme, gap, word] = /^([A-Za-z][\w-]{1,40})( {1,4})([^\s,"'\\]{8,})/.exec(whole) ?? [];
  if (PARAMETERS.test(text.slice(value.from, value.from + 128))) return proofs(text, value.from);
  const from = value.from + (scheme === undefined || gap === undefined ? 0 : scheme.length + gap.length);
  const secret = word ?? /^[^\s,"'\\]{16,}$/.exec(whole.trimEnd())?.[0];
  if (secret === undefined || isReference(secret, 'code')) return [];
  const believed = (scheme !== undefined && SCHEME.test(scheme)) || (/\d/.test(secret) && secret.length >= 16);
  return believed ? [{ from, to: from + secret.length }] : [];
}

/** Up to the end of the line, the parameters being quoted; never past the next header, so that nothing is read twice. */
function proofs(text: string, offset: number): readonly SecretSpan[] {
  const rest = text.slice(offset, offset + MAX_HEADER);
  const end = rest.search(LINE_END);
  const line = end < 0 ? rest : rest.slice(0, end);
  return [...line.matchAll(PROOF)].map((match) => ({
    from: offset + match.index,
    to: offset + match.index + match[0].length,
  }));
}

function cookieSecrets(text: string, value: SecretSpan): readonly SecretSpan[] {
  return [...text.slice(value.from, value.to).matchAll(COOKIE_PAIR)].flatMap((pair) => {
    const [whole, name = '', secret = ''] = pair;
    if (COOKIE_ATTRIBUTE.test(name) || isReference(secret, 'shell')) return [];
    const to = value.from + pair.index + whole.length;
    return [{ from: to - secret.length, to }];
  });
}
