import { ConflictError } from '../errors.ts';
import { openVersion } from '../memory/memory-files.ts';
import type { Clock } from '../ports/clock.ts';
import { invalidPath, pathNotFound } from '../workspace/workspace-path.ts';
import { checkEditContent, checkEditPath } from './check-edit.ts';
import { publishEdits, type SaveEditsPorts } from './save-edits.ts';

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
 * the next consolidation keeps. One file is written, whatever else the memory holds. Secrets and invisible characters are
 * taken out (DV-6), sizes and encodings are those of the gates (DV-20); grammar is not asked for: what is odd by hand, the next
 * consolidation mends.
 * @throws InvalidInputError `edit.forbidden_path`, `edit.path_too_long`, `edit.secret_in_path`, `edit.too_large`,
 *   `edit.not_text`, `path.invalid`; nothing is written
 * @throws NotFoundError `path.not_found` for a deletion of what is not there
 * @throws ConflictError `edit.stale` when the version is not the present one any more
 */
export async function editFile(ports: EditFilePorts, userKey: string, request: EditFileRequest): Promise<EditedFile> {
  const { path } = request;
  checkEditPath(path);
  const content = request.content === null ? null : checkEditContent(path, request.content);
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
