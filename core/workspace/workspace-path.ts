import { InvalidInputError, NotFoundError } from '../errors.ts';

/**
 * Turns a caller's path into a workspace path: relative, `/` separated, no empty, `.` or `..` steps (behaviours N-04).
 * A backslash is an ordinary character. Steps of the wrong kind are told apart in this order:
 * @returns the workspace path; `''` stands for the root
 * @throws InvalidInputError `path.invalid` for an absolute path, a `..` step or a control character
 * @throws NotFoundError `path.not_found` for a hidden name, so that its existence is not revealed
 */
export function resolveWorkspacePath(written: string): string {
  const steps = written.split('/');
  if (written.startsWith('/') || steps.includes('..') || hasControlCharacter(written)) throw invalidPath();
  if (steps.some((step) => step.startsWith('.') && step !== '.')) throw pathNotFound();
  return steps.filter((step) => step !== '' && step !== '.').join('/');
}

/** True for a path that may name a file of a version: it resolves to itself and is not the root. */
export function isWorkspacePath(path: string): boolean {
  const steps = path.split('/');
  return !hasControlCharacter(path) && steps.every((step) => step !== '' && !step.startsWith('.'));
}

/** A path that can name nothing in the workspace. The path itself stays out of the message: it is the caller's text. */
export function invalidPath(): InvalidInputError {
  return new InvalidInputError(
    'path.invalid',
    'path must be relative to the memory root, use / between names, and hold no .. step or file in its middle',
    { details: { field: 'path' } },
  );
}

/** A path that names nothing in this version. */
export function pathNotFound(): NotFoundError {
  return new NotFoundError('path.not_found', 'path names no file or folder of this memory', {
    details: { field: 'path' },
  });
}

function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text);
}
