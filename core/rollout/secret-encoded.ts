import { REDACTED } from './secret-rules.ts';
import type { CountSecrets } from './secret-spans.ts';

/** Finds out whether a text holds a secret. */
export type HoldsSecret = (text: string) => boolean;

/** Letters, digits and signs of ASCII that a JSON writer may have escaped (`\u003d`); quotes and the back slash are not. */
const ESCAPED = /(?<!\\)\\+u00([2-6][0-9a-f]|7[0-9a-e])/gi;

/** Whether printable ASCII stands in `\u00xx` escapes: they hide the shape of a secret. */
export function hasEscapedAscii(text: string): boolean {
  return text.includes('u00') && text.search(ESCAPED) >= 0;
}

/**
 * Writes such escapes as the characters they stand for, at any depth of escaping. JSON stays JSON: no character that means
 * something in a JSON string comes out of it (a double quote becomes a single one).
 */
export function unescapeAscii(text: string): string {
  return text.replace(ESCAPED, (whole, digits: string) => {
    const unit = String.fromCharCode(Number.parseInt(digits, 16));
    if (unit === '\\') return whole;
    return unit === '"' ? "'" : unit;
  });
}

const BASE64 = /[A-Za-z0-9+/]{24,}[A-Za-z0-9+/_-]*={0,2}/g;
const DOCKER_AUTH = /(?<=["']auth\\{0,15}["'] ?: ?\\{0,15}["'])[A-Za-z0-9+/]{8,}={0,2}/g;
const MAX_DECODED = 65_536;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** Six bits by ASCII code; 255 for what is no character of base64. */
const VALUES = new Uint8Array(128).fill(255);
for (const [at, unit] of [...ALPHABET, '-', '_'].entries()) VALUES[unit.charCodeAt(0)] = at < 64 ? at : at - 2;
const LATIN_1 = new TextDecoder('latin1');

/**
 * Base64 of a text that holds a secret: what `base64 < .env`, Kubernetes secrets and `client-key-data` show. Digests,
 * certificates and images decode to other bytes than text and stay; one level is looked through.
 */
export function redactBase64(text: string, holdsSecret: HoldsSecret, count: CountSecrets): string {
  let times = 0;
  const mark = (secret: boolean, run: string): string => {
    if (!secret) return run;
    times++;
    return REDACTED;
  };
  const result = text.replace(BASE64, (run) => {
    if (!startsPrintable(run)) return run;
    const decoded = decode(run.slice(0, MAX_DECODED));
    return mark(isPrintable(decoded) && holdsSecret(decoded), run);
  });
  const auth = result.includes('auth')
    ? result.replace(DOCKER_AUTH, (run) => {
        const decoded = decode(run);
        return mark(isPrintable(decoded) && decoded.includes(':'), run);
      })
    : result;
  count('encoded_secret', times);
  return auth;
}

function isPrintable(text: string): boolean {
  return /^[\t\n\r -~]+$/.test(text);
}

/** Whether the first five groups decode to text: nearly all runs that are no base64 of a text end here. */
function startsPrintable(run: string): boolean {
  for (let at = 0; at < 20; at += 4) {
    const group =
      (valueAt(run, at) << 18) | (valueAt(run, at + 1) << 12) | (valueAt(run, at + 2) << 6) | valueAt(run, at + 3);
    if (!isText(group >> 16) || !isText((group >> 8) & 0xff) || !isText(group & 0xff)) return false;
  }
  return true;
}

function isText(byte: number): boolean {
  return byte < 0x7f && (byte >= 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d);
}

function valueAt(run: string, at: number): number {
  return VALUES[run.charCodeAt(at)] ?? 255;
}

/** Whole groups of four characters and what the last ones give. */
function decode(base64: string): string {
  const bytes = new Uint8Array(Math.ceil((base64.length * 3) / 4));
  let length = 0;
  let bits = 0;
  let pending = 0;
  for (let at = 0; at < base64.length; at++) {
    const value = valueAt(base64, at);
    if (value === 255) break;
    pending = ((pending << 6) | value) & 0xffffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[length++] = (pending >> bits) & 0xff;
  }
  return LATIN_1.decode(bytes.subarray(0, length));
}
