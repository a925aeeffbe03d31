import type { RateLimit } from '../../core/ports/model-client.ts';

const PREFIX = 'x-ratelimit-';
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const LONGEST_MS = 366 * 86_400_000;
/** A date with its name of day and its zone; `Date.parse` takes much else for a date, `-5` too. */
const HTTP_DATE = /^[A-Za-z]{3,9},? .* GMT$/;

/**
 * The windows that the headers `x-ratelimit-limit-*`, `-remaining-*` and `-reset-*` tell of, names ascending.
 * A window whose limit or remainder is missing or no plain number is left out (some providers send -1).
 */
export function readRateLimits(headers: Headers, now: number): readonly RateLimit[] {
  const limits: RateLimit[] = [];
  for (const [header, value] of headers) {
    if (!header.startsWith(`${PREFIX}limit-`)) continue;
    const name = header.slice(`${PREFIX}limit-`.length);
    const limit = parseNumber(value);
    const remaining = parseNumber(headers.get(`${PREFIX}remaining-${name}`));
    if (limit === undefined || limit === 0 || remaining === undefined) continue;
    const resetMs = parseSpan(headers.get(`${PREFIX}reset-${name}`)) ?? 0;
    limits.push({ name, remainingPercent: Math.min(100, (remaining / limit) * 100), resetsAt: now + resetMs });
  }
  return limits.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * How long to wait, ms, whole: `retry-after-ms`, else `retry-after` (seconds or a date), else the reset of a used-up window.
 * What is no wait, or one of more than a year, is passed over.
 */
export function retryAfterMs(headers: Headers, now: number): number | null {
  const after = headers.get('retry-after');
  const told = [
    parseNumber(headers.get('retry-after-ms')),
    toMs(parseNumber(after)),
    after !== null && HTTP_DATE.test(after) ? Math.max(0, Date.parse(after) - now) : undefined,
  ];
  const wait = told.find((ms) => ms !== undefined && ms <= LONGEST_MS); // NaN is not
  if (wait !== undefined) return Math.ceil(wait);
  const used = readRateLimits(headers, now).filter((limit) => limit.remainingPercent === 0 && limit.resetsAt > now);
  return used.length === 0 ? null : Math.max(...used.map((limit) => limit.resetsAt)) - now;
}

/** Reads `12ms`, `1.5s`, `6m0s`, `1h2m3s`, or plain seconds, up to a year. */
function parseSpan(text: string | null): number | undefined {
  const ms = toMs(parseNumber(text)) ?? parseUnits(text);
  return ms !== undefined && ms <= LONGEST_MS ? ms : undefined;
}

function parseUnits(text: string | null): number | undefined {
  if (text === null || !/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0);
  }
  return total;
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000;
}

/** Digits with or without a fraction; undefined also for so many of them that they make no finite number. */
function parseNumber(text: string | null): number | undefined {
  if (text === null || !/^\d+(?:\.\d+)?$/.test(text.trim())) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}
