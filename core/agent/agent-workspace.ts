import { InvalidInputError, NotFoundError } from '../errors.ts';
import { LIMITS } from '../settings.ts';
import { decodeUtf8Strict, encodeUtf8, utf8Length } from '../text.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import { resolveWorkspacePath } from '../workspace/workspace-path.ts';

const PATH_BYTES = 512;

/** The most bytes that a file at this path may hold (DV-20); undefined where the agent may not write at all (DV-23). */
export function writeLimit(path: string): number | undefined {
  if (path === 'MEMORY.md') return LIMITS.memoryFileBytes;
  if (path === 'memory_summary.md') return LIMITS.summaryFileBytes;
  return /^skills\/./.test(path) ? LIMITS.skillFileBytes : undefined;
}

/**
 * The folder that an agent works in: in memory, private to one run. Everything can be read, only the outputs can be written.
 * Every refusal is an InvalidInputError or a NotFoundError, which the loop hands back to the model.
 */
export class AgentWorkspace {
  readonly #files: Map<string, Uint8Array>;
  #bytesWritten = 0;

  constructor(files: FileTree) {
    this.#files = new Map(files);
  }

  /** The files as they are now; a view, not a copy. */
  get files(): FileTree {
    return this.#files;
  }

  /** Bytes of all writes and edits so far, each counted whole. */
  get bytesWritten(): number {
    return this.#bytesWritten;
  }

  /**
   * Creates or replaces a file.
   * @throws InvalidInputError `path.invalid`, `path.forbidden`, `file.too_large`
   */
  write(written: string, content: string): { path: string; bytes: number } {
    const path = this.#writablePath(written);
    const bytes = utf8Length(content);
    const limit = writeLimit(path) ?? 0;
    if (bytes > limit) {
      throw new InvalidInputError('file.too_large', `the file may hold ${limit} bytes, this has ${bytes}: shorten it`, {
        details: { field: 'content', limit, bytes },
      });
    }
    this.#files.set(path, encodeUtf8(content));
    this.#bytesWritten += bytes;
    return { path, bytes };
  }

  /**
   * Replaces a text that occurs exactly once.
   * @throws InvalidInputError `edit.empty`, `edit.no_match`, `edit.ambiguous`, and those of `write`
   * @throws NotFoundError `path.not_found`
   */
  edit(written: string, oldText: string, newText: string): { path: string; bytes: number } {
    const path = this.#writablePath(written);
    const text = decodeUtf8Strict(this.#existing(path));
    if (text === undefined) throw refuse('edit.not_text', 'path', 'the file is not UTF-8 text: write it anew');
    if (oldText === '') throw refuse('edit.empty', 'old_text', 'old_text must not be empty');
    const at = text.indexOf(oldText);
    if (at < 0)
      throw refuse('edit.no_match', 'old_text', 'old_text is not in the file: read it again and copy exactly');
    if (text.indexOf(oldText, at + 1) >= 0)
      throw refuse('edit.ambiguous', 'old_text', 'old_text occurs more than once: take in more of its surroundings');
    return this.write(path, text.slice(0, at) + newText + text.slice(at + oldText.length));
  }

  /**
   * Removes a file.
   * @throws InvalidInputError `path.invalid`, `path.forbidden`
   * @throws NotFoundError `path.not_found`
   */
  delete(written: string): { path: string; deleted: true } {
    const path = this.#writablePath(written);
    this.#existing(path);
    this.#files.delete(path);
    return { path, deleted: true };
  }

  #existing(path: string): Uint8Array {
    const content = this.#files.get(path);
    if (content !== undefined) return content;
    throw new NotFoundError('path.not_found', 'path names no file of the workspace', { details: { field: 'path' } });
  }

  #writablePath(written: string): string {
    const path = resolveWorkspacePath(written);
    if (writeLimit(path) === undefined || utf8Length(path) > PATH_BYTES) {
      throw refuse(
        'path.forbidden',
        'path',
        'only MEMORY.md, memory_summary.md and files below skills/ can be written',
      );
    }
    for (const other of this.#files.keys()) {
      if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`))
        throw refuse('path.invalid', 'path', 'a name cannot be a file and a folder at once');
    }
    return path;
  }
}

function refuse(code: string, field: string, message: string): InvalidInputError {
  return new InvalidInputError(code, message, { details: { field } });
}
