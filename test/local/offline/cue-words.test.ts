import { describe, expect, it } from 'vitest';
import { asksForAWay, isCorrection, judgement } from '../../../local/offline/cue-words.ts';

const WISHES: readonly (readonly [string, string])[] = [
  ['en', "Don't use npm here."],
  ['en', 'Please always run the linter first.'],
  ['en', 'I prefer small commits.'],
  ['en', 'Use Postgres for the keys.'],
  ['en', 'From now on, tests get a fixed clock.'],
  ['en', 'Run the tests in the container instead.'],
  ['de', 'Bitte nicht cargo direkt aufrufen.'],
  ['de', 'Immer `make build` verwenden.'],
  ['de', 'Commit-Nachrichten bitte ohne Emojis.'],
  ['de', 'Ab jetzt `just build` statt `make build`.'],
  ['fr', "N'utilise pas npm dans ce dépôt."],
  ['fr', 'Utilise pnpm au lieu de npm.'],
  ['es', 'No uses npm aquí.'],
  ['es', 'Siempre ejecuta las pruebas antes de subir.'],
  ['pt', 'Não use npm neste repositório.'],
  ['pt', 'Sempre rode os testes antes.'],
  ['zh', '不要用 npm，请使用 pnpm。'],
  ['zh', '以后都写英文提交信息。'],
  ['ja', 'pip は使わないでください。'],
  ['ja', 'コミットメッセージは英語で書いてください。'],
  ['ko', 'npm 쓰지 마세요, 항상 pnpm을 사용하세요.'],
  ['ko', '앞으로는 커밋을 작게 나눠 주세요.'],
];

const NO_WISHES: readonly (readonly [string, string])[] = [
  ['a question', 'Should we always use pnpm?'],
  ['a statement about the person', "I don't know why it fails."],
  ['a complaint', 'It always fails on CI.'],
  ['a description', 'The service never answers in time.'],
  ['a plain request', 'Add a migration for the berth length.'],
  ['a German description', 'Der Test schlägt nicht fehl.'],
  ['a Japanese request', '欠測日も0件として出力するように直してください。'],
  ['a redacted sentence', 'Always use the token [REDACTED_SECRET].'],
];

describe('asksForAWay', () => {
  it.each(WISHES)('hears a wish in %s: %s', (_, sentence) => {
    expect(asksForAWay(sentence)).toBe(true);
  });

  it.each(NO_WISHES)('hears none in %s', (_, sentence) => {
    expect(asksForAWay(sentence)).toBe(false);
  });
});

describe('judgement', () => {
  it.each([
    ['Great, thanks.', 'praise'],
    ['ありがとう。', 'praise'],
    ['Danke, passt.', 'praise'],
    ["That's still wrong, the name is missing.", 'complaint'],
    ['違います。保存はそのままで。', 'complaint'],
    ['Now add the column.', null],
  ])('%s is %s', (message, expected) => {
    expect(judgement(message)).toBe(expected);
  });

  it('a "no" at the start is a correction, one inside is none', () => {
    expect(isCorrection('No, the column must not be null.')).toBe(true);
    expect(isCorrection('There is no column.')).toBe(false);
  });
});
