import type { Head, Manifest } from '../consolidation/manifest.ts';
import { readAhead } from '../consolidation/read-ahead.ts';
import { loadVersionChain } from '../consolidation/version-chain.ts';
import { DefectError, NotFoundError } from '../errors.ts';
import type { HeadStore } from '../ports/head-store.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import { compareBytes } from '../text.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import { invalidPath, pathNotFound, resolveWorkspacePath } from '../workspace/workspace-path.ts';

/** The files of one memory, as the tools see them: a published version, or the workspace of a run. */
export interface MemoryFiles {
  /** Workspace paths of all files, in byte order. Folders exist only through their files. */
  readonly paths: readonly string[];
  /** Names the user and the content: files with the same key are the same. Absent: nothing may be kept by it. */
  readonly key?: string;
  /** Content of a file. @throws NotFoundError `path.not_found` when the path is not among `paths` */
  read(path: string): Promise<Uint8Array>;
}

/** One published version, opened for reading. */
export interface OpenedVersion extends MemoryFiles {
  /** 0 = nothing published. */
  readonly version: number;
  readonly head: Head;
  /** Null for version 0. */
  readonly manifest: Manifest | null;
  /** When the next version took its place, ms since the epoch; null while it is the current one. */
  readonly supersededAt: number | null;
}

/** The files of a tree. Later changes of the tree are not seen in `paths`. */
export function treeFiles(tree: FileTree): MemoryFiles {
  return {
    paths: [...tree.keys()].sort(compareBytes),
    read: async (path) => {
      const content = tree.get(path);
      if (content === undefined) throw pathNotFound();
      return content;
    },
  };
}

/**
 * Opens the current version, or the named one. The head is resolved once; every file is read by the manifest's entry, so a
 * publish meanwhile is not seen (storage.md, "Readers"). Only versions that the head reaches by parent links exist: the
 * manifest of a run that lost is no version. Version 0 is the empty memory that everyone starts from. An old version stays
 * readable for `LIMITS.historyDays`; what has expired since is told apart from what never was (user case C26).
 * @throws NotFoundError `memory.version_not_found`, `memory.version_expired`; the latter also while reading
 * @throws DefectError `memory.manifest_missing`, `memory.chain_broken`
 */
export async function openVersion(
  stores: { readonly heads: Pick<HeadStore, 'read'>; readonly memories: Pick<MemoryStore, 'manifest' | 'readFile'> },
  userKey: string,
  version?: number,
): Promise<OpenedVersion> {
  const head = await stores.heads.read(userKey);
  const wanted = version ?? head.version;
  const found = wanted === 0 ? NOTHING : await findManifest(stores.memories, userKey, { head: head.version, wanted });
  const { manifest } = found;
  const files = manifest?.files ?? {};
  return {
    version: wanted,
    head,
    manifest,
    supersededAt: found.supersededAt,
    // The epoch belongs to it, since a reset starts the numbers anew; an old version may lose what was forgotten.
    ...(found.supersededAt === null ? { key: JSON.stringify([userKey, head.epoch, wanted]) } : {}),
    paths: Object.keys(files).sort(compareBytes),
    read: async (path) => {
      const entry = Object.hasOwn(files, path) ? files[path] : undefined;
      if (entry === undefined) throw pathNotFound();
      const reading = stores.memories.readFile(userKey, path, entry);
      return wanted === head.version ? reading : reading.catch((error: unknown) => explainGone(error, wanted));
    },
  };
}

const NOTHING = { manifest: null, supersededAt: null };

/** Content of the current version never expires: there it is a defect that nobody must take for history. */
function explainGone(error: unknown, version: number): never {
  if (error instanceof DefectError && error.code === 'memory.content_gone') throw expired(version, error);
  throw error;
}

/** What a version that may no longer be read is answered with. */
export function expired(version: number, cause?: unknown): NotFoundError {
  return new NotFoundError('memory.version_expired', `version ${version} is older than the history that is kept`, {
    details: { version },
    cause,
  });
}

async function findManifest(
  memories: Pick<MemoryStore, 'manifest'>,
  userKey: string,
  numbers: { readonly head: number; readonly wanted: number },
): Promise<{ readonly manifest: Manifest; readonly supersededAt: number | null }> {
  const { head, wanted } = numbers;
  const ahead = readAhead(memories, wanted);
  const chain = wanted > head ? [] : await loadVersionChain(ahead, userKey, head, ({ version }) => version <= wanted);
  const found = chain.at(-1);
  if (found?.version === wanted) return { manifest: found, supersededAt: chain.at(-2)?.createdAt ?? null };
  // The chain ended above it although it goes on: what came before has expired.
  if (found !== undefined && found.version > wanted && found.parent > 0) throw expired(wanted);
  throw new NotFoundError('memory.version_not_found', `version ${wanted} is not a version of this memory`, {
    details: { version: wanted },
  });
}

/** What a path names in a set of files. */
export type Target =
  | { readonly kind: 'file'; readonly path: string }
  /** `path` is `''` for the root. */
  | { readonly kind: 'folder'; readonly path: string };

/**
 * Resolves a caller's path against the files (behaviours N-04, N-05). The root is a folder even when there is no file.
 * Symlinks, which upstream refuses here, cannot exist in a version.
 * @throws InvalidInputError `path.invalid`, also where a file stands in the middle of the path
 * @throws NotFoundError `path.not_found`
 */
export function findTarget(files: MemoryFiles, written: string): Target {
  const path = resolveWorkspacePath(written);
  if (path === '') return { kind: 'folder', path };
  const paths = new Set(files.paths);
  if (paths.has(path)) return { kind: 'file', path };
  if (files.paths.some((other) => other.startsWith(`${path}/`))) return { kind: 'folder', path };
  const steps = path.split('/');
  for (let count = 1; count < steps.length; count++) {
    if (paths.has(steps.slice(0, count).join('/'))) throw invalidPath();
  }
  throw pathNotFound();
}
