import { stripHidden } from '../consolidation/hidden-characters.ts';
import { InvalidInputError } from '../errors.ts';
import { redact } from '../rollout/redact.ts';
import { LIMITS } from '../settings.ts';
import { decodeUtf8Strict, encodeUtf8, utf8Length } from '../text.ts';
import { invalidPath, isWorkspacePath } from '../workspace/workspace-path.ts';

/** What a person may change by hand (api.md, `PUT|DELETE /v1/memory/files/{path}`). */
const EDITABLE = /^(MEMORY\.md|memory_summary\.md|skills\/.+|extensions\/.+)$/;

/** True for a path that a person may change by hand. */
export function isEditable(path: string): boolean {
  return EDITABLE.test(path);
}

/** Largest content of a path, bytes. */
export function editLimit(path: string): number {
  if (path === 'MEMORY.md') return LIMITS.memoryFileBytes;
  if (path === 'memory_summary.md') return LIMITS.summaryFileBytes;
  return path.startsWith('skills/') ? LIMITS.skillFileBytes : LIMITS.extensionFileBytes;
}

/**
 * A path that a person may change, as files lie on a disk as well: short names, none of them hidden.
 * @throws InvalidInputError `edit.forbidden_path`, `edit.path_too_long`, `edit.secret_in_path`, `path.invalid`
 */
export function checkEditPath(path: string): void {
  requireEditable(path);
  if (!isWorkspacePath(path)) throw invalidPath();
  const longest = Math.max(...path.split('/').map(utf8Length));
  if (longest > LIMITS.editNameBytes || utf8Length(path) > LIMITS.editPathBytes) {
    throw new InvalidInputError(
      'edit.path_too_long',
      `path must have at most ${LIMITS.editPathBytes} bytes, and each name in it at most ${LIMITS.editNameBytes}`,
      { details: { field: 'path', limit: LIMITS.editPathBytes } },
    );
  }
  if (redact(path) !== path)
    throw new InvalidInputError('edit.secret_in_path', 'path must not hold a secret', { details: { field: 'path' } });
}

/**
 * The gates for what a person writes: those that protect others, not those of form (docs/decisions/0016-gates.md).
 * @returns the content as it is stored: without secrets (DV-6) and characters that nobody sees
 * @throws InvalidInputError `edit.too_large`, `edit.not_text`
 */
export function checkEditContent(path: string, content: Uint8Array): Uint8Array {
  const limit = editLimit(path);
  if (content.length > limit) {
    throw new InvalidInputError(
      'edit.too_large',
      `${path} may have at most ${limit} bytes, this has ${content.length}: shorten it`,
      {
        details: { in: 'body', limit },
      },
    );
  }
  const text = decodeUtf8Strict(content);
  if (text !== undefined && !text.includes('\u0000')) return encodeUtf8(redact(stripHidden(text)));
  if (path.startsWith('extensions/')) return content;
  throw new InvalidInputError('edit.not_text', `${path} must be UTF-8 text without NUL characters`, {
    details: { in: 'body' },
  });
}

/** @throws InvalidInputError `edit.forbidden_path` */
export function requireEditable(path: string): void {
  if (isEditable(path)) return;
  throw new InvalidInputError(
    'edit.forbidden_path',
    'only MEMORY.md, memory_summary.md and files below skills/ and extensions/ can be edited',
    { details: { field: 'path' } },
  );
}
