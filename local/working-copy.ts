import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import type { Manifest } from '../core/consolidation/manifest.ts';
import { isEditable } from '../core/control/check-edit.ts';
import { DefectError } from '../core/errors.ts';
import { sha256Hex } from '../core/ids.ts';
import { compareBytes, encodeUtf8 } from '../core/text.ts';
import type { FileTree } from '../core/workspace/file-tree.ts';

const MARKER = '.version.json';
const markerShape = z.object({ version: z.number().int().nonnegative() });

/** What a person did to the working copy since it was made. */
export interface WorkingCopyChanges {
  /** Version that the copy was made of; 0 when it was made of none. */
  readonly version: number;
  /** New content by path; null = deleted by hand. Only paths that a person may change. */
  readonly edits: ReadonlyMap<string, Uint8Array | null>;
  /** Changed paths that are rebuilt anyway, and links, which are not taken over. */
  readonly ignored: readonly string[];
  /** SHA-256 of every file as it was seen, by path. */
  readonly hashes: ReadonlyMap<string, string>;
}

/**
 * `<home>/memories/`: the current version as plain files. Replaced as a whole by renaming, so that a kill leaves the old copy,
 * the new copy, or (for the moment between two renames) none; never a mixture.
 */
export class WorkingCopy {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Ends a replacement that a kill interrupted. Call it before `readChanges` and `replace`. */
  async recover(): Promise<void> {
    if (!existsSync(this.folder) && existsSync(this.#old)) await rename(this.#old, this.folder);
    await rm(this.#next, { recursive: true, force: true });
    await rm(this.#old, { recursive: true, force: true });
  }

  /** The version that the copy was made of; undefined when there is no copy. */
  async version(): Promise<number | undefined> {
    if (!existsSync(this.folder)) return undefined;
    return readMarker(this.folder);
  }

  /**
   * Compares the copy with the version it was made of.
   * @param manifestOf the manifest of a version; asked once
   */
  async readChanges(
    manifestOf: (version: number) => Promise<Manifest | undefined>,
  ): Promise<WorkingCopyChanges | undefined> {
    const version = await this.version();
    if (version === undefined) return undefined;
    return compareCopy(this.folder, version, await manifestOf(version));
  }

  /**
   * Puts a version in the place of the present copy. Edits made since `seen` was read are carried over into the new copy, where
   * the next reading finds them.
   */
  async replace(version: number, files: FileTree, seen: WorkingCopyChanges | undefined): Promise<void> {
    await this.recover();
    await writeCopy(this.#next, version, files);
    if (existsSync(this.folder)) {
      await rename(this.folder, this.#old);
      if (seen !== undefined) await carryLateEdits(this.#old, this.#next, seen);
    }
    await rename(this.#next, this.folder);
    await rm(this.#old, { recursive: true, force: true });
  }

  get #next(): string {
    return `${this.folder}.next`;
  }

  get #old(): string {
    return `${this.folder}.old`;
  }
}

async function compareCopy(
  folder: string,
  version: number,
  manifest: Manifest | undefined,
): Promise<WorkingCopyChanges> {
  const edits = new Map<string, Uint8Array | null>();
  const ignored: string[] = [];
  const listing = await listCopy(folder);
  const hashes = new Map<string, string>();
  for (const path of listing.files) {
    const content = await readFile(join(folder, path));
    const hash = sha256Hex(content);
    hashes.set(path, hash);
    if (manifest?.files[path]?.sha256 === hash) continue;
    if (isEditable(path)) edits.set(path, new Uint8Array(content));
    else ignored.push(path);
  }
  for (const path of Object.keys(manifest?.files ?? {})) {
    if (hashes.has(path)) continue;
    if (isEditable(path)) edits.set(path, null);
    else ignored.push(path);
  }
  return { version, edits, ignored: [...ignored, ...listing.links].sort(compareBytes), hashes };
}

async function carryLateEdits(old: string, next: string, seen: WorkingCopyChanges): Promise<void> {
  const listing = await listCopy(old);
  for (const path of listing.files) {
    if (!isEditable(path)) continue;
    const content = new Uint8Array(await readFile(join(old, path)));
    if (seen.hashes.get(path) === sha256Hex(content)) continue;
    await writeCopyFile(next, path, content);
  }
}

async function writeCopy(folder: string, version: number, files: FileTree): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const [path, content] of files) await writeCopyFile(folder, path, content);
  await writeCopyFile(folder, MARKER, encodeUtf8(`${JSON.stringify({ version })}\n`));
}

async function writeCopyFile(folder: string, path: string, content: Uint8Array): Promise<void> {
  const target = join(folder, path);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await writeFile(target, content, { mode: 0o600 });
  await chmod(target, 0o600);
}

async function readMarker(folder: string): Promise<number> {
  const path = join(folder, MARKER);
  if (!existsSync(path)) return 0;
  try {
    const parsed: unknown = JSON.parse(await readFile(path, 'utf8'));
    return markerShape.parse(parsed).version;
  } catch (error) {
    // Without its version nobody can tell what a person changed: guessing could overwrite a newer memory with an older copy.
    throw new DefectError(
      'home.working_copy_unreadable',
      `memories/${MARKER} in the home cannot be read: move the folder memories/ away, and the next run makes a new copy`,
      { cause: error instanceof Error ? error.name : undefined },
    );
  }
}

async function listCopy(folder: string): Promise<{ files: readonly string[]; links: readonly string[] }> {
  const files: string[] = [];
  const links: string[] = [];
  const visit = async (below: string): Promise<void> => {
    for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
      if (entry.name.startsWith('.')) continue;
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) await visit(path);
      else if (entry.isFile()) files.push(path);
      else links.push(path);
    }
  };
  await visit('');
  return { files: files.sort(compareBytes), links: links.sort(compareBytes) };
}
