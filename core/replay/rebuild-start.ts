import type { RunStart } from '../consolidation/load-start.ts';
import type { FileEntry, Manifest } from '../consolidation/manifest.ts';
import { MEMORY_PATH } from '../consolidation/output-paths.ts';
import { readTree } from '../consolidation/prepare-workspace.ts';
import { DefectError, NotFoundError } from '../errors.ts';
import { sha256Hex } from '../ids.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import { renderDiffFile, type WorkspaceChange } from '../workspace/workspace-diff.ts';
import type { KeptRun } from './open-run.ts';

type Memories = Pick<MemoryStore, 'manifest' | 'readFile'>;

/**
 * What a run started from, out of the versions that still hold it: the one it made has every input, its base every file of
 * before, the last consolidation before it what has changed since.
 * @throws NotFoundError `replay.inputs_gone` where one of these versions, or a text of one, is no longer kept
 * @throws DefectError `replay.inputs_differ` where the diff comes out otherwise than the run read it
 */
export async function rebuildStart(memories: Memories, run: KeptRun): Promise<RunStart> {
  const { userKey, manifest, record } = run;
  const base = await manifestOf(memories, userKey, record.base);
  const baseline = record.baseline === record.base ? base : await manifestOf(memories, userKey, record.baseline);
  const shelf = new Shelf(memories, run, [manifest, base, baseline]);
  const files = await shelf.read(record.files);
  const before = await shelf.read(
    record.changes.flatMap(([path, sha256]) => (sha256 === null ? [] : [[path, sha256]])),
  );
  const changes = record.changes.map(([path]) => changeOf(path, before.get(path), files.get(path)));
  if (sha256Hex(renderDiffFile(changes)) !== record.diffSha256) throw inputsDiffer(record.version);
  const memory = base?.files[MEMORY_PATH];
  const memoryBefore = memory && (await shelf.read([[MEMORY_PATH, memory.sha256]])).get(MEMORY_PATH);
  const { selection, inputs, newNotes, inputsBefore } = record;
  return { base, selection, workspace: { files, changes, inputs, inputsBefore, newNotes }, memoryBefore, inputsBefore };
}

function changeOf(path: string, before: Uint8Array | undefined, after: Uint8Array | undefined): WorkspaceChange {
  if (after === undefined) return { status: 'D', path, before: before ?? new Uint8Array(), after: null };
  return before === undefined ? { status: 'A', path, before: null, after } : { status: 'M', path, before, after };
}

/** Texts by path and hash, out of the versions that may hold them. Each is read once. */
class Shelf {
  readonly #memories: Memories;
  readonly #run: KeptRun;
  readonly #versions: readonly (Manifest | undefined)[];
  readonly #known = new Map<string, Uint8Array>();

  constructor(memories: Memories, run: KeptRun, versions: readonly (Manifest | undefined)[]) {
    this.#memories = memories;
    this.#run = run;
    this.#versions = versions;
  }

  /** @throws NotFoundError `replay.inputs_gone` */
  async read(wanted: readonly (readonly [string, string])[]): Promise<FileTree> {
    const { userKey, record } = this.#run;
    const files: Record<string, FileEntry> = {};
    for (const [path, sha256] of wanted) {
      const entry = this.#versions.map((item) => item?.files[path]).find((item) => item?.sha256 === sha256);
      if (entry === undefined) throw inputsGone(record.version);
      files[path] = entry;
    }
    try {
      const tree = await readTree(this.#memories, userKey, { files }, this.#known);
      for (const content of tree.values()) this.#known.set(sha256Hex(content), content);
      return new Map(wanted.map(([path]) => [path, tree.get(path) ?? new Uint8Array()]));
    } catch (error) {
      if (!(error instanceof DefectError) || error.code !== 'memory.content_gone') throw error;
      throw inputsGone(record.version, error);
    }
  }
}

async function manifestOf(memories: Memories, userKey: string, version: number): Promise<Manifest | undefined> {
  if (version === 0) return undefined;
  const manifest = await memories.manifest(userKey, version);
  if (manifest === undefined) throw inputsGone(version);
  return manifest;
}

function inputsGone(version: number, cause?: unknown): NotFoundError {
  const message = `a text that the run which made version ${version} started from is no longer kept`;
  return new NotFoundError('replay.inputs_gone', message, { details: { version }, cause });
}

function inputsDiffer(version: number): DefectError {
  const message = `what the run that made version ${version} started from cannot be put together as it was: the diff of its inputs comes out otherwise`;
  return new DefectError('replay.inputs_differ', message, { details: { version } });
}
