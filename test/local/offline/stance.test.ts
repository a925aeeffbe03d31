import { describe, expect, it } from 'vitest';
import { isSameWish, readStance, replaces } from '../../../local/offline/stance.ts';

describe('readStance', () => {
  it.each([
    ["Don't use npm in this repository, always use pnpm.", ['pnpm'], ['npm']],
    ['Actually, use Postgres instead of Redis for the keys.', ['postgres'], ['redis']],
    ['Ab jetzt `just build` statt `make build`.', ['just', 'just build'], ['make', 'make build']],
    ['Bitte nicht cargo direkt, sondern immer `make test`.', ['make', 'make test'], ['cargo']],
    ['pip は使わないでください。', [], ['pip']],
    ['npm ではなく pnpm を使ってください。', ['pnpm'], ['npm']],
  ])('%s', (sentence, wanted, rejected) => {
    const stance = readStance(sentence);
    expect([...stance.wanted].sort()).toEqual(wanted);
    expect([...stance.rejected].sort()).toEqual(rejected);
  });
});

describe('replaces', () => {
  it.each([
    ['Use spaces.', 'Use tabs.', true],
    ['Use `just build` instead of `make build`.', 'Always `make build`.', true],
    ['Use tabs.', "Don't use tabs.", true],
    ['Use pnpm, never npm.', "Don't use npm.", false],
    ['Always use uv.', 'Use tabs.', false],
  ])('%s over %s: %s', (later, earlier, expected) => {
    expect(replaces(readStance(later), readStance(earlier))).toBe(expected);
  });
});

describe('isSameWish', () => {
  it.each([
    ['Please always run the linter.', 'Always run the linter!', true],
    [
      'Commit-Nachrichten bitte ohne Emojis.',
      'Bitte keine Emojis in Commit-Nachrichten, und eine Änderung je Commit.',
      true,
    ],
    ['Use tabs instead of spaces.', 'Use tabs.', true],
    ['Use `make build` on the build host.', 'Always `make build`, never cargo by hand.', false],
    ['Use tabs.', 'Use spaces.', false],
    ['Always run the linter.', 'Always run the tests.', false],
  ])('%s and %s: %s', (left, right, expected) => {
    expect(isSameWish(left, right)).toBe(expected);
  });
});
