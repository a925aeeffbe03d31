import type { RateLimit } from '../../core/ports/model-client.ts';

const PREFIX = 'x-ratelimit-';
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * The windows that the headers `x-ratelimit-limit-*`, `-remaining-*` and `-reset-*` tell of, names ascending.
 * A window without a positive limit or without its remainder is left out (some providers send -1).
 */
export function readRateLimits(headers: Headers, now: number): readonly RateLimit[] {
  const limits: RateLimit[] = [];
  for (const [header, value] of headers) {
    if (!header.startsWith(`${PREFIX}limit-`)) continue;
    const name = header.slice(`${PREFIX}limit-`.length);
    const limit = Number(value);
    const remaining = Number(headers.get(`${PREFIX}remaining-${name}`) ?? Number.NaN);
    if (!(limit > 0) || !(remaining >= 0)) continue;
    const resetMs = parseSpan(headers.get(`${PREFIX}reset-${name}`)) ?? 0;
    limits.push({ name, remainingPercent: Math.min(100, (remaining / limit) * 100), resetsAt: now + resetMs });
  }
  return limits.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** How long to wait, ms: `retry-after-ms`, else `retry-after` (seconds or a date), else the reset of a used-up window. */
export function retryAfterMs(headers: Headers, now: number): number | null {
  const ms = parseNumber(headers.get('retry-after-ms'));
  if (ms !== undefined) return Math.ceil(ms);
  const after = headers.get('retry-after');
  const seconds = parseNumber(after);
  if (seconds !== undefined) return Math.ceil(seconds * 1_000);
  const date = after === null ? Number.NaN : Date.parse(after);
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  const used = readRateLimits(headers, now).filter((limit) => limit.remainingPercent === 0 && limit.resetsAt > now);
  return used.length === 0 ? null : Math.max(...used.map((limit) => limit.resetsAt)) - now;
}

/** Reads `12ms`, `1.5s`, `6m0s`, `1h2m3s`, or plain seconds. */
function parseSpan(text: string | null): number | undefined {
  const seconds = parseNumber(text);
  if (seconds !== undefined) return seconds * 1_000;
  if (text === null || !/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0);
  }
  return total;
}

function parseNumber(text: string | null): number | undefined {
  return text !== null && /^\d+(?:\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}
