/** Times are integer milliseconds since the epoch in stores, RFC 3339 with `+00:00` in files (storage.md). */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** RFC 3339 in UTC, whole seconds, offset `+00:00` and never `Z` (behaviours H-03). */
export function toFileTime(ms: number): string {
  return `${new Date(Math.floor(ms / SECOND_MS) * SECOND_MS).toISOString().slice(0, 19)}+00:00`;
}

/** `YYYY-MM-DDTHH-MM-SS` in UTC: the time part of file stems and note names (behaviours H-06, N-22). */
export function toStemTime(ms: number): string {
  return new Date(Math.floor(ms / SECOND_MS) * SECOND_MS).toISOString().slice(0, 19).replaceAll(':', '-');
}

/** Calendar day in UTC, `YYYY-MM-DD`: the key of a day's ledger. */
export function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/**
 * Reads a `YYYY-MM-DDTHH-MM-SS` prefix (behaviours K-03).
 * @returns ms since the epoch, or undefined when the first 19 characters are not such a calendar time.
 */
export function parseStemTime(text: string): number | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})/.exec(text);
  if (!match) return undefined;
  return parseTime(`${match[1]}T${match[2]}:${match[3]}:${match[4]}Z`);
}

/**
 * Reads an RFC 3339 time with seconds and an offset. Impossible calendar days (`02-30`) are refused, where `Date` would roll over.
 * @returns ms since the epoch, or undefined when the text is no such time.
 */
export function parseTime(text: string): number | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i.exec(text);
  if (!match) return undefined;
  const ms = Date.parse(`${match[1]}T${match[2]}${(match[3] ?? '').slice(0, 4)}${(match[4] ?? 'Z').toUpperCase()}`);
  if (Number.isNaN(ms)) return undefined;
  const dayStart = Date.parse(`${match[1]}T00:00:00Z`);
  return new Date(dayStart).toISOString().slice(0, 10) === match[1] ? ms : undefined;
}
