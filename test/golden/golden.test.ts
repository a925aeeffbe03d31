import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeDifference, GOLDEN_FOLDER, goldenName, goldenOf, rolloutNames } from './golden.ts';

const MAX_TEXT = 80;

function load(file: string): unknown {
  return JSON.parse(readFileSync(join(GOLDEN_FOLDER, file), 'utf8'));
}

describe('golden summaries of the shared rollouts', () => {
  it('there is one for each, and no other', () => {
    expect(readdirSync(GOLDEN_FOLDER).sort()).toEqual(rolloutNames().map(goldenName).sort());
  });

  it.each(rolloutNames())('%s gives what it gave (node test/golden/write.ts writes anew)', async (name) => {
    expect(describeDifference(load(goldenName(name)), await goldenOf(name))).toEqual([]);
  });

  it('none holds text of a rollout: nothing longer than an id or a name of a kind', () => {
    const long = readdirSync(GOLDEN_FOLDER).flatMap((file) =>
      textsOf(load(file)).filter((text) => text.length > MAX_TEXT),
    );
    expect(long).toEqual([]);
  });

  it('a difference is told by its place', () => {
    expect(describeDifference({ a: { b: 1, c: 'x' } }, { a: { b: 2, c: 'x', d: null } })).toEqual([
      'a > b: 2, was 1',
      'a > d: null, was nothing',
    ]);
  });
});

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return [...Object.keys(value), ...Object.values(value).flatMap(textsOf)];
}
