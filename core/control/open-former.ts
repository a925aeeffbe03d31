import type { FileEntry } from '../consolidation/manifest.ts';
import { NotFoundError } from '../errors.ts';
import { sha256Hex } from '../ids.ts';
import { type OpenedVersion, treeFiles } from '../memory/memory-files.ts';
import { openPinned, type PinPorts } from '../memory/pinned-version.ts';
import { withoutForgotten } from '../memory/without-forgotten.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import { ROLLOUT_SUMMARIES_FOLDER } from '../workspace/input-files.ts';

const READS_AT_ONCE = 32;

/**
 * Opens a version for its manifest, a diff or a restore: as `openPinned`, but of one that rests on forgotten threads what is left
 * without them (DV-18; user case A23).
 * @throws NotFoundError as `openVersion`; `memory.version_expired`
 */
export function openFormer(ports: PinPorts, userKey: string, version?: number): Promise<OpenedVersion> {
  return openPinned(ports, userKey, version, without);
}

/**
 * What is left of an older version without threads that were forgotten since: read as a whole, its manifest tells what is left, and
 * entries of files that changed by it have no `versionId`.
 */
async function without(opened: OpenedVersion, forgotten: ReadonlySet<string>): Promise<OpenedVersion> {
  const { manifest } = opened;
  if (manifest === null) return opened;
  const left = withoutForgotten(await readLeft(opened), forgotten);
  const files: Record<string, FileEntry> = {};
  for (const [path, content] of left) {
    const entry = manifest.files[path];
    const sha256 = sha256Hex(content);
    files[path] = entry?.sha256 === sha256 ? entry : { versionId: '', sha256, bytes: content.length };
  }
  const isLeft = (ref: { readonly threadId: string }): boolean => !forgotten.has(ref.threadId);
  const removed = manifest.removed.filter((threadId) => !forgotten.has(threadId));
  const shown = { ...manifest, inputs: manifest.inputs.filter(isLeft), removed, files };
  return { ...opened, ...treeFiles(left), manifest: shown };
}

/** All files, but for those that forgetting took from the store already. */
async function readLeft(opened: OpenedVersion): Promise<FileTree> {
  const tree = new Map<string, Uint8Array>();
  for (let at = 0; at < opened.paths.length; at += READS_AT_ONCE) {
    const paths = opened.paths.slice(at, at + READS_AT_ONCE);
    const contents = await Promise.all(paths.map((path) => readOrGone(opened, path)));
    for (const [index, content] of contents.entries()) if (content !== undefined) tree.set(paths[index] ?? '', content);
  }
  return tree;
}

async function readOrGone(opened: OpenedVersion, path: string): Promise<Uint8Array | undefined> {
  try {
    return await opened.read(path);
  } catch (error) {
    const isSummary = path.startsWith(ROLLOUT_SUMMARIES_FOLDER);
    if (isSummary && error instanceof NotFoundError && error.code === 'memory.version_expired') return undefined;
    throw error;
  }
}
