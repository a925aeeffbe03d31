import { describe, expect, it } from 'vitest';
import { coreWords, hidesItsEnd, isCheck, isReadOnly, sameAim, showCommand } from '../../../local/offline/commands.ts';

describe('coreWords', () => {
  it.each([
    ['cd a && CI=1 npx vitest run x', 'vitest run x'],
    ['uv run pytest tests', 'pytest tests'],
    ['npm run build', 'npm build'],
    ['bash scripts/test.sh --all', 'scripts/test.sh --all'],
    ['for i in $(seq 3); do pnpm test || exit 1; done', 'pnpm test'],
  ])('%s', (command, words) => {
    expect(coreWords(command).join(' ')).toBe(words);
  });
});

describe('isCheck', () => {
  it.each([
    'pnpm test',
    'cargo clippy --all',
    'make -C fw build',
    'uv run ruff check .',
    'go vet ./...',
    './scripts/test.sh',
  ])('%s is one', (command) => {
    expect(isCheck(command)).toBe(true);
  });

  it.each([
    'git commit -m "test: add"',
    'cat test.txt',
    'rg test src',
    'docker compose up',
    'perl -pi -e s/x/y/ check.sh',
  ])('%s is none', (command) => {
    expect(isCheck(command)).toBe(false);
  });
});

describe('hidesItsEnd', () => {
  it.each(['pytest | head', 'make test || true', 'make test; echo done', 'npm start & sleep 1'])(
    '%s does',
    (command) => {
      expect(hidesItsEnd(command)).toBe(true);
    },
  );

  it.each(['pytest 2>&1', 'go test -run "A|B"', 'cd a && make test', 'export A=1; make test', 'make test > out.txt'])(
    '%s does not',
    (command) => {
      expect(hidesItsEnd(command)).toBe(false);
    },
  );
});

describe('sameAim', () => {
  it.each([
    ['npm test', 'pnpm test', true],
    ['npm test -- src/a.test.ts', 'pnpm vitest run src/a.test.ts', true],
    ['npm test -- src/a.test.ts', 'pnpm vitest run src/b.test.ts', false],
    ['npm run migrate', 'pnpm migrate', true],
    ['make build', 'just build', true],
    ['make build', 'just test', false],
    ['python a.py x.json', 'python a.py y.json', false],
    ['python3 -c "1"', 'python3 -c "2"', false],
    ['git checkout -b x', 'git commit', false],
  ])('%s and %s: %s', (left, right, expected) => {
    expect(sameAim(left, right)).toBe(expected);
  });
});

it('looking is not changing', () => {
  expect(['cat a', 'git status', 'sed -n 1,5p a'].every(isReadOnly)).toBe(true);
  expect(['sed -i s/a/b/ x', 'git checkout x', 'docker compose up'].some(isReadOnly)).toBe(false);
});

it('a command is shown by its first line, verbatim, at most 160 characters', () => {
  expect(showCommand('make test')).toBe('`make test`');
  expect(showCommand('cat <<EOF\nx\nEOF')).toBe('`cat <<EOF` …');
  expect(showCommand('echo `date`')).toBe('``echo `date```');
  expect(showCommand(`x ${'y'.repeat(200)}`)).toMatch(/^`.{160}` …$/);
});
