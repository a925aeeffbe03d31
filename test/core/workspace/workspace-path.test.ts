import { posix } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidInputError, NotFoundError } from '../../../core/errors.ts';
import { isWorkspacePath, resolveWorkspacePath } from '../../../core/workspace/workspace-path.ts';

const steps = fc.array(fc.constantFrom('a', '..', '.', '', '.git', 'b.md', '...', '\\', 'é', '..\\x', '\0'), {
  maxLength: 6,
});
const writtenPaths = fc.oneof(
  steps.map((names) => names.join('/')),
  fc.string(),
);

describe('resolveWorkspacePath', () => {
  it.each([
    ['TC-174 keeps a plain path', 'MEMORY.md', 'MEMORY.md'],
    ['TC-174 drops a leading dot step', './MEMORY.md', 'MEMORY.md'],
    ['TC-175 drops a dot step', 'a/./b.md', 'a/b.md'],
    ['TC-175 drops a doubled slash', 'a//b.md', 'a/b.md'],
    ['TC-175 drops a trailing slash', 'rollout_summaries/', 'rollout_summaries'],
    ['TC-176 takes an empty path as the root', '', ''],
    ['TC-176 takes a dot as the root', '.', ''],
    ['TC-176 takes a dot and a slash as the root', './', ''],
    ['TC-182 takes a drive as an ordinary name', 'C:\\x', 'C:\\x'],
  ])('%s', (_name, written, path) => {
    expect(resolveWorkspacePath(written)).toBe(path);
  });

  it.each([
    ['TC-177', '../secret'],
    ['TC-177', '..'],
    ['TC-177', 'a/../b'],
    ['TC-177', 'a/../../x'],
    ['TC-177', 'a/..'],
    ['TC-181 the parent check comes first', '.hidden/../x'],
    ['an absolute path', '/etc/passwd'],
    ['a NUL', 'a\0b'],
    ['a line end', 'a\nb'],
  ])('%s: refuses %j as invalid', (_name, written) => {
    expect(() => resolveWorkspacePath(written)).toThrow(
      expect.toSatisfy((error) => error instanceof InvalidInputError && error.code === 'path.invalid'),
    );
  });

  it.each([
    ['TC-179', '.git'],
    ['TC-179', '.git/config'],
    ['TC-179', 'a/.hidden/x'],
    ['TC-179', 'skills/.env'],
    ['TC-180', '..hidden'],
    ['TC-180', '...'],
    ['TC-182', '..\\secret'],
  ])('%s: does not tell whether hidden %j exists', (_name, written) => {
    expect(() => resolveWorkspacePath(written)).toThrow(
      expect.toSatisfy((error) => error instanceof NotFoundError && error.code === 'path.not_found'),
    );
  });

  it('never leaves the workspace, whatever is written', () => {
    fc.assert(
      fc.property(writtenPaths, (written) => {
        let path: string;
        try {
          path = resolveWorkspacePath(written);
        } catch (error) {
          expect(error instanceof InvalidInputError || error instanceof NotFoundError).toBe(true);
          return;
        }
        const onDisk = posix.resolve('/memory/root', path);
        expect(onDisk === '/memory/root' || onDisk.startsWith('/memory/root/')).toBe(true);
        expect(path === '' || isWorkspacePath(path)).toBe(true);
        expect(resolveWorkspacePath(path)).toBe(path);
      }),
      { numRuns: 500 },
    );
  });
});

describe('isWorkspacePath', () => {
  it.each(['MEMORY.md', 'skills/a/SKILL.md', 'a b', 'extensions/ad_hoc/notes/2026-05-26T13-42-08-x.md'])(
    'takes %j',
    (path) => {
      expect(isWorkspacePath(path)).toBe(true);
    },
  );

  it.each(['', '/a', 'a/', 'a//b', './a', 'a/../b', '.git', 'a/.x', 'a\nb'])('refuses %j', (path) => {
    expect(isWorkspacePath(path)).toBe(false);
  });
});
