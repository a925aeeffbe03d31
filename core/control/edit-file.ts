import { ConflictError, InvalidInputError } from '../errors.ts';
import { openVersion } from '../memory/memory-files.ts';
import type { Clock } from '../ports/clock.ts';
import { redact } from '../rollout/redact.ts';
import { LIMITS } from '../settings.ts';
import { decodeUtf8Strict, encodeUtf8, utf8Length } from '../text.ts';
import { invalidPath, isWorkspacePath, pathNotFound } from '../workspace/workspace-path.ts';
import { publishEdits, requireEditable, type SaveEditsPorts } from './save-edits.ts';

export interface EditFilePorts extends SaveEditsPorts {
  readonly clock: Clock;
}

export interface EditFileRequest {
  readonly path: string;
  /** Null deletes the file. */
  readonly content: Uint8Array | null;
  /** The version that the person was looking at; another one being current refuses the edit. */
  readonly version: number;
  readonly actor: string;
}

export interface EditedFile {
  readonly path: string;
  /** The version made; the present one where the file was like that already. */
  readonly version: number;
  readonly changed: boolean;
  /** There was no such file before. */
  readonly created: boolean;
}

/**
 * Changes one file by hand (api.md, `PUT|DELETE /v1/memory/files/{path}`) as a version of its own with the reason `edit`, which
 * the next consolidation keeps. One file is written, whatever else the memory holds. Secrets are redacted (DV-6), sizes and
 * encodings are those of the gates (DV-20); grammar is not asked for: what is odd by hand, the next consolidation mends.
 * @throws InvalidInputError `edit.forbidden_path`, `edit.path_too_long`, `edit.secret_in_path`, `edit.too_large`,
 *   `edit.not_text`, `path.invalid`; nothing is written
 * @throws NotFoundError `path.not_found` for a deletion of what is not there
 * @throws ConflictError `edit.stale` when the version is not the present one any more
 */
export async function editFile(ports: EditFilePorts, userKey: string, request: EditFileRequest): Promise<EditedFile> {
  const { path } = request;
  checkPath(path);
  const content = request.content === null ? null : checkContent(path, request.content);
  const current = await openVersion(ports, userKey);
  if (current.version !== request.version) throw stale(request.version, current.version);
  const exists = current.paths.includes(path);
  if (content === null && !exists) throw pathNotFound();
  if (content !== null && !exists) requireFree(current.paths, path);
  const draft = { current, files: new Map([[path, content]]), overMoved: 'stop' } as const;
  const now = ports.clock.now();
  const result = await publishEdits(ports, { userKey, actor: request.actor, now }, draft);
  switch (result.kind) {
    case 'published':
      return { path, version: result.version, changed: true, created: !exists };
    case 'unchanged':
      return { path, version: result.version, changed: false, created: false };
    case 'moved':
      throw stale(request.version, result.version);
    case 'lost': // a reset came in between
      throw stale(request.version, 0);
  }
}

/** Largest content of a path, bytes. */
export function editLimit(path: string): number {
  if (path === 'MEMORY.md') return LIMITS.memoryFileBytes;
  if (path === 'memory_summary.md') return LIMITS.summaryFileBytes;
  return path.startsWith('skills/') ? LIMITS.skillFileBytes : LIMITS.extensionFileBytes;
}

/** A path as files lie on a person's disk as well: short names, none of them hidden. */
function checkPath(path: string): void {
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

/** @returns the content without secrets */
function checkContent(path: string, content: Uint8Array): Uint8Array {
  const limit = editLimit(path);
  if (content.length > limit) {
    throw new InvalidInputError('edit.too_large', `this file may have at most ${limit} bytes`, {
      details: { in: 'body', limit },
    });
  }
  const text = decodeUtf8Strict(content);
  if (text !== undefined && !text.includes('\u0000')) return encodeUtf8(redact(text));
  if (path.startsWith('extensions/')) return content;
  throw new InvalidInputError('edit.not_text', 'this file must be UTF-8 text without NUL characters', {
    details: { in: 'body' },
  });
}

/** A name is a file or a folder, never both. */
function requireFree(paths: readonly string[], path: string): void {
  const taken = paths.some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`));
  if (taken) throw invalidPath();
}

function stale(seen: number, current: number): ConflictError {
  return new ConflictError(
    'edit.stale',
    `the memory is at version ${current} by now, not ${seen}: read the file again, then send the edit with that version`,
    { details: { version: current } },
  );
}
