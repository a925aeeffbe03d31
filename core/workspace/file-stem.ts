import { isUuid } from '../ids.ts';
import { compareBytes, encodeUtf8 } from '../text.ts';
import { SECOND_MS, toStemTime } from '../time.ts';

const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const HASH_DIGITS = 4;
const HASH_RANGE = DIGITS.length ** HASH_DIGITS;
const MAX_SLUG = 60;
/** From 1582-10-15, where the clock of version 1 and 6 starts, to 1970, in units of 100 ns. */
const GREGORIAN_OFFSET = 122_192_928_000_000_000n;
const TICKS_PER_MS = 10_000n;
const LAST_STEM_MS = 253_402_300_799_999; // 9999-12-31: later years have no four digits

/** What a stem is made of. */
export interface StemSource {
  readonly threadId: string;
  /** ms; used where the id carries no time of its own. */
  readonly sourceUpdatedAt: number;
  readonly slug: string | null;
}

/**
 * The name of a rollout summary without `.md`: `<time>-<hash>[-<slug>]` (behaviours H-06). Two threads can have the same
 * stem; `assignStems` tells them apart.
 */
export function fileStem(source: StemSource): string {
  const time = idTime(source.threadId) ?? source.sourceUpdatedAt;
  const slug = sanitiseSlug(source.slug ?? '');
  return `${toStemTime(time)}-${stemHash(source.threadId)}${slug === '' ? '' : `-${slug}`}`;
}

/** Whether a file of this name may be the rollout summary of the thread: its stem has the thread's hash, whatever time and slug. */
export function mayBeStemOf(name: string, threadId: string): boolean {
  return new RegExp(`^\\d{4}-\\d{2}-\\d{2}T\\d{2}-\\d{2}-\\d{2}-${stemHash(threadId)}(?:-|\\.|$)`).test(name);
}

/**
 * One stem for each thread, by thread id. Where stems collide, later thread ids in ascending order get `-2`, `-3`, …
 * (DV-5). Names that differ only in case count as equal, since a working copy may lie on a disk that takes them so.
 */
export function assignStems(sources: readonly StemSource[]): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  const stems = new Map<string, string>();
  for (const source of sources.toSorted((left, right) => compareBytes(left.threadId, right.threadId))) {
    const base = fileStem(source);
    let stem = base;
    for (let number = 2; taken.has(stem.toLowerCase()); number++) stem = `${base}-${number}`;
    taken.add(stem.toLowerCase());
    stems.set(source.threadId, stem);
  }
  return stems;
}

/** The time inside a UUID of version 1, 6 or 7, ms; undefined for all others. */
function idTime(id: string): number | undefined {
  if (!isUuid(id)) return undefined;
  const hex = id.replaceAll('-', '');
  const time = uuidTime(hex);
  return time !== undefined && time <= LAST_STEM_MS ? time : undefined;
}

function uuidTime(hex: string): number | undefined {
  switch (hex[12]) {
    case '7': {
      const ms = Number.parseInt(hex.slice(0, 12), 16);
      return ms - (ms % SECOND_MS);
    }
    case '1':
      return ticksToMs(BigInt(`0x${hex.slice(13, 16)}${hex.slice(8, 12)}${hex.slice(0, 8)}`));
    case '6':
      return ticksToMs(BigInt(`0x${hex.slice(0, 12)}${hex.slice(13, 16)}`));
    default:
      return undefined;
  }
}

function ticksToMs(ticks: bigint): number {
  return Number((ticks - GREGORIAN_OFFSET) / TICKS_PER_MS);
}

function stemHash(id: string): string {
  let rest = hashSeed(id) % HASH_RANGE;
  let hash = '';
  for (let digit = 0; digit < HASH_DIGITS; digit++) {
    hash = `${DIGITS[rest % DIGITS.length]}${hash}`;
    rest = Math.floor(rest / DIGITS.length);
  }
  return hash;
}

/** The low 32 bits of a UUID; for other ids a 32-bit rolling sum of the bytes. */
function hashSeed(id: string): number {
  if (isUuid(id)) return Number.parseInt(id.slice(-8), 16);
  let seed = 0;
  for (const byte of encodeUtf8(id)) seed = (Math.imul(seed, 31) + byte) >>> 0;
  return seed;
}

/** Lower-case ASCII letters and digits stay, each other code point becomes `_`; at most 60, then trailing `_` go. */
function sanitiseSlug(slug: string): string {
  let out = '';
  for (const char of slug) {
    if (out.length === MAX_SLUG) break;
    out += /^[0-9A-Za-z]$/.test(char) ? char.toLowerCase() : '_';
  }
  let end = out.length;
  while (end > 0 && out[end - 1] === '_') end--;
  return out.slice(0, end);
}
