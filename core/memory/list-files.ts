import { LIMITS } from '../settings.ts';
import { compareBytes } from '../text.ts';
import { findTarget, type MemoryFiles } from './memory-files.ts';
import { takePage } from './page.ts';

export interface ListRequest {
  /** Absent, `''` and `.` are the root. */
  readonly path?: string | null | undefined;
  readonly cursor?: string | null | undefined;
  /** 1 to 2,000, which is the default. */
  readonly maxResults?: number | null | undefined;
}

export interface ListedEntry {
  readonly path: string;
  readonly entry_type: 'file' | 'directory';
}

/** As the wire shows it. */
export interface Listing {
  /** As the caller wrote it (behaviours N-06). */
  readonly path: string;
  readonly entries: readonly ListedEntry[];
  readonly next_cursor: string | null;
  readonly truncated: boolean;
}

/**
 * Lists one folder, not its sub-folders, in byte order of paths; a path that names a file lists that file (behaviours
 * N-07..N-09). Hidden names, symlinks and special files cannot exist in a version.
 * @throws InvalidInputError `path.invalid`, `cursor.invalid`
 * @throws NotFoundError `path.not_found`
 */
export async function listFiles(files: MemoryFiles, request: ListRequest = {}): Promise<Listing> {
  const written = request.path ?? '';
  const target = findTarget(files, written);
  const entries: readonly ListedEntry[] =
    target.kind === 'file' ? [{ path: target.path, entry_type: 'file' }] : listFolder(files, target.path);
  const page = takePage(entries, { ...request, most: LIMITS.listMaxResults });
  return {
    path: written,
    entries: page.items,
    next_cursor: page.nextCursor,
    truncated: page.nextCursor !== null,
  };
}

function listFolder(files: MemoryFiles, folder: string): ListedEntry[] {
  const prefix = folder === '' ? '' : `${folder}/`;
  const found = new Map<string, ListedEntry>();
  for (const path of files.paths) {
    if (!path.startsWith(prefix)) continue;
    const slash = path.indexOf('/', prefix.length);
    const entryPath = slash < 0 ? path : path.slice(0, slash);
    found.set(entryPath, { path: entryPath, entry_type: slash < 0 ? 'file' : 'directory' });
  }
  return [...found.values()].sort((left, right) => compareBytes(left.path, right.path));
}
