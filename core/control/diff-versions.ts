import type { OpenedVersion } from '../memory/memory-files.ts';
import type { PinPorts } from '../memory/pinned-version.ts';
import { LIMITS } from '../settings.ts';
import { charBoundaryBefore, compareBytes, decodeUtf8, encodeUtf8, utf8Length } from '../text.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import { diffTrees, renderUnifiedDiff } from '../workspace/workspace-diff.ts';
import { openFormer } from './open-former.ts';

const READS_AT_ONCE = 16;

export interface DiffRequest {
  /** The newer side; absent: the current version. */
  readonly version?: number | undefined;
  /** The older side, 0 for nothing at all; absent: the parent of the newer one. */
  readonly against?: number | undefined;
}

export interface VersionDiff {
  readonly from: number;
  readonly to: number;
  /** Git-style, 3 lines of context; '' where nothing changed. */
  readonly text: string;
  readonly filesChanged: number;
  /** Cut by its size or its time; the last line of the text says so. */
  readonly truncated: boolean;
}

/**
 * What changed between any two versions (api.md). Only files that differ are read, a few at a time, and no more once the text
 * has `LIMITS.versionDiffBytes` or the work took `LIMITS.versionDiffMs`.
 * @throws NotFoundError as `openFormer`, for either version
 */
export async function diffVersions(ports: PinPorts, userKey: string, request: DiffRequest): Promise<VersionDiff> {
  const to = await openFormer(ports, userKey, request.version);
  const from = await openFormer(ports, userKey, request.against ?? to.manifest?.parent ?? 0);
  const deadline = ports.clock.now() + LIMITS.versionDiffMs;
  const changed = changedPaths(from, to);
  const text = new BoundedText(LIMITS.versionDiffBytes);
  let shown = 0;
  while (shown < changed.length && !text.full && ports.clock.now() < deadline) {
    const paths = changed.slice(shown, shown + READS_AT_ONCE);
    const [before, after] = await Promise.all([readSome(from, paths), readSome(to, paths)]);
    for (const path of paths) {
      if (text.full || ports.clock.now() >= deadline) break;
      text.add(renderUnifiedDiff(diffTrees(pick(before, path), pick(after, path))));
      shown += 1;
    }
  }
  const truncated = text.full || shown < changed.length;
  const notice = truncated ? `[diff truncated: ${shown} of ${changed.length} changed files shown]\n` : '';
  return { from: from.version, to: to.version, text: text.value + notice, filesChanged: changed.length, truncated };
}

/** In byte order. Contents of the same hash are the same. */
function changedPaths(from: OpenedVersion, to: OpenedVersion): readonly string[] {
  const before = new Map(Object.entries(from.manifest?.files ?? {}));
  const after = new Map(Object.entries(to.manifest?.files ?? {}));
  const paths = [...new Set([...from.paths, ...to.paths])];
  return paths.filter((path) => before.get(path)?.sha256 !== after.get(path)?.sha256).sort(compareBytes);
}

async function readSome(version: OpenedVersion, paths: readonly string[]): Promise<FileTree> {
  const present = new Set(version.paths);
  const wanted = paths.filter((path) => present.has(path));
  const contents = await Promise.all(wanted.map((path) => version.read(path)));
  return new Map(contents.map((content, at) => [wanted[at] ?? '', content]));
}

function pick(tree: FileTree, path: string): FileTree {
  const content = tree.get(path);
  return new Map(content === undefined ? [] : [[path, content]]);
}

/** Text up to a size, cut at the end of a line where there is one. */
class BoundedText {
  readonly #parts: string[] = [];
  #left: number;
  #full = false;

  constructor(limitBytes: number) {
    this.#left = limitBytes;
  }

  get full(): boolean {
    return this.#full;
  }

  get value(): string {
    return this.#parts.join('');
  }

  add(text: string): void {
    const bytes = utf8Length(text);
    if (bytes <= this.#left) {
      this.#parts.push(text);
      this.#left -= bytes;
      return;
    }
    const encoded = encodeUtf8(text);
    const kept = decodeUtf8(encoded.subarray(0, charBoundaryBefore(encoded, this.#left)));
    this.#parts.push(kept.slice(0, kept.lastIndexOf('\n') + 1));
    this.#full = true;
  }
}
