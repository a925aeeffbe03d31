import { InvalidArgumentError } from 'commander';

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** `30d`, `12h`, `90m`, `2w` in ms. @throws InvalidArgumentError that says what would be right */
export function parseDuration(text: string): number {
  const match = /^(\d{1,6})([mhdw])$/.exec(text.trim());
  const unit = UNIT_MS[match?.[2] ?? ''];
  if (match === null || unit === undefined) {
    throw new InvalidArgumentError('give a number and a unit, such as 30d, 12h, 90m or 2w.');
  }
  return Number(match[1]) * unit;
}

/** A path; an empty one is what an unset variable leaves. @throws InvalidArgumentError */
export function parsePath(text: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('give a path; it must not be empty.');
}

/** A whole number within limits, ends included. */
export function parseWhole(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
    if (!Number.isInteger(value) || value < min || value > max) {
      throw new InvalidArgumentError(`give a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}
