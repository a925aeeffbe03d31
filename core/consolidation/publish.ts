import type { TokenUsage } from '../agent/token-usage.ts';
import { UnavailableError } from '../errors.ts';
import type { SnapshotRef } from '../extraction/stage-one-output.ts';
import { sha256Hex } from '../ids.ts';
import { listPlaces } from '../memory/project-places.ts';
import { bearsProvenance, packProvenance } from '../memory/provenance.ts';
import type { HeadStore } from '../ports/head-store.ts';
import type { MemoryStore, StagedObjects } from '../ports/memory-store.ts';
import { decodeUtf8 } from '../text.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import type { FileEntry, Head, Manifest, PendingNote, VersionReason } from './manifest.ts';
import { listPendingNotes, previewNote } from './pending-notes.ts';
import { rebaseManifest } from './rebase.ts';
import { loadVersionChain } from './version-chain.ts';

const SUMMARY_PATH = 'memory_summary.md';
const MEMORY_PATH = 'MEMORY.md';
/** A first build stores hundreds of files, and a store takes its time for each. */
const WRITES_AT_ONCE = 32;
const MAX_NUMBER_TRIES = 20;
const MAX_REBASES = 5;

export interface PublishStores {
  readonly memories: MemoryStore;
  readonly heads: HeadStore;
}

/** The version that the new one is built on, as the caller read it. */
export interface PublishBase {
  /** Undefined: nothing was published yet. */
  readonly manifest: Manifest | undefined;
  readonly epoch: number;
}

export interface PublishRequest {
  readonly userKey: string;
  readonly base: PublishBase;
  /** The consolidation's ownership token; null for a small version (note, edit, forget, restore). */
  readonly fence: string | null;
  readonly reason: VersionReason;
  readonly actor: string;
  /** Every file of the new version, with its whole content; of those in `kept`, only what replaces the base's. */
  readonly files: FileTree;
  /** Paths whose entries are taken over from the base without reading them: a small version changes one file of many. */
  readonly kept?: readonly string[];
  readonly inputs: readonly SnapshotRef[];
  /** Thread ids that the base rested on and this version does not. */
  readonly removed: readonly string[];
  readonly notesConsumed: readonly string[];
  readonly model: string | null;
  readonly promptVersion: string | null;
  readonly tokenUsage: TokenUsage;
  /** As in the manifest. */
  readonly way?: Manifest['way'];
  readonly turns?: number;
  readonly now: number;
  /** `stop`: a head that moved ends the call as `moved`, whatever changed. Default: rebase by path where that loses nothing. */
  readonly overMoved?: 'rebase' | 'stop';
}

export type PublishResult =
  | {
      readonly kind: 'published';
      readonly version: number;
      /** Its parent: the base, or a later version that it was rebased over. */
      readonly parent: number;
      /** Paths stored by this call, in the order of the tree. */
      readonly filesWritten: readonly string[];
      readonly filesUnchanged: number;
    }
  /** Same files, inputs and consumed notes as the base: no version was made. */
  | { readonly kind: 'unchanged'; readonly version: number }
  /** The head moved to `version` in a way that cannot be merged by path: start over from there. */
  | { readonly kind: 'moved'; readonly version: number }
  /** A reset happened, or somebody else took the lock. Nothing of this run may be published. */
  | { readonly kind: 'lost'; readonly reason: 'epoch' | 'fence' };

/** Everything of a new version but its number. */
export type Draft = Omit<Manifest, 'version'>;

/**
 * Publishes a version (storage.md, "Publishing"): stores the files whose SHA-256 differs from the base's, then the manifest
 * under a free number, then switches the head once. Where the head moved meanwhile on other paths only, the version is
 * rebased by path, without another model call. A call that dies or loses at any step leaves readers on the old version; one
 * that loses or fails takes back what it stored.
 *
 * @throws UnavailableError `memory.write_failed` from the stores, `memory.publish_contended` when no free number was found
 */
export async function publishVersion(stores: PublishStores, request: PublishRequest): Promise<PublishResult> {
  const base = request.base.manifest;
  const staging = planStaging(base, request.files, request.kept ?? []);
  if (isUnchanged(request, staging)) return { kind: 'unchanged', version: base?.version ?? 0 };

  const staged: Staged = { files: [], manifests: [], asked: false };
  try {
    const result = await stageAndCommit(stores, request, staging, staged);
    const isOut = result.kind === 'lost' || result.kind === 'moved';
    if (isOut) await stores.memories.discard(request.userKey, staged);
    return result;
  } catch (error) {
    // A switch whose answer did not come may have been made, or be made yet: then a later run has to judge.
    if (!staged.asked) await stores.memories.discard(request.userKey, staged);
    throw error;
  }
}

/** What this call has stored so far. */
interface Staged extends StagedObjects {
  readonly files: { readonly path: string; readonly entry: FileEntry }[];
  readonly manifests: Manifest[];
  /** True while it is not known how a switch ended. */
  asked: boolean;
}

async function stageAndCommit(
  stores: PublishStores,
  request: PublishRequest,
  staging: Staging,
  staged: Staged,
): Promise<PublishResult> {
  const files: Record<string, FileEntry> = { ...staging.kept };
  for (let at = 0; at < staging.changed.length; at += WRITES_AT_ONCE) {
    const paths = staging.changed.slice(at, at + WRITES_AT_ONCE);
    const writes = paths.map((path) =>
      stores.memories.putFile(request.userKey, path, request.files.get(path) ?? new Uint8Array()),
    );
    // All of them end before one that failed is told: what is still being written could not be taken back.
    for (const [index, write] of (await Promise.allSettled(writes)).entries()) {
      const path = paths[index] ?? '';
      if (write.status === 'fulfilled') staged.files.push({ path, entry: write.value });
    }
    for (const write of writes) await write;
  }
  for (const { path, entry } of staged.files) files[path] = entry;
  return commitDraft(stores, request, draftOf(request, files), staged);
}

interface Staging {
  readonly changed: readonly string[];
  readonly kept: Readonly<Record<string, FileEntry>>;
}

function planStaging(base: Manifest | undefined, files: FileTree, keptPaths: readonly string[]): Staging {
  const changed: string[] = [];
  const kept: Record<string, FileEntry> = {};
  for (const path of keptPaths) {
    const entry = base?.files[path];
    if (entry !== undefined && !files.has(path)) kept[path] = entry;
  }
  for (const [path, content] of files) {
    const entry = base?.files[path];
    if (entry !== undefined && entry.bytes === content.length && entry.sha256 === sha256Hex(content))
      kept[path] = entry;
    else changed.push(path);
  }
  return { changed, kept };
}

/**
 * A consolidation over a note or a hand edit is a version even where the files stay the same: it moves the baseline, so that
 * the next run does not find, and pay for, the same change again.
 */
function isUnchanged(request: PublishRequest, staging: Staging): boolean {
  const base = request.base.manifest;
  if (base === undefined) return request.files.size === 0;
  const sameFiles = staging.changed.length === 0 && Object.keys(staging.kept).length === Object.keys(base.files).length;
  if (!sameFiles) return false;
  if (request.reason !== 'consolidation') return true;
  return (
    base.reason === 'consolidation' &&
    sameMembers(base.inputs.map(nameSnapshot), request.inputs.map(nameSnapshot)) &&
    sameMembers(base.notesConsumed, request.notesConsumed)
  );
}

function nameSnapshot(ref: SnapshotRef): string {
  return `${ref.threadId}@${ref.sourceUpdatedAt}`;
}

function sameMembers(left: readonly string[], right: readonly string[]): boolean {
  const members = new Set(left);
  return members.size === new Set(right).size && right.every((item) => members.has(item));
}

/** Known without reading more: from files that are all at hand, or the base's where nothing changed that decides it. */
function provenanceOf(
  request: PublishRequest,
  files: Readonly<Record<string, FileEntry>>,
): Pick<Manifest, 'provenance'> {
  const base = request.base.manifest;
  if (Object.keys(files).every((path) => request.files.has(path))) return { provenance: packProvenance(request.files) };
  const paths = [...new Set([...Object.keys(files), ...Object.keys(base?.files ?? {})])].filter(bearsProvenance);
  const same = paths.every((path) => files[path]?.sha256 === base?.files[path]?.sha256);
  return same && base?.provenance !== undefined ? { provenance: base.provenance } : {};
}

/** The version that a request makes over its base, where these entries are its files. */
export function draftOf(request: PublishRequest, files: Readonly<Record<string, FileEntry>>): Draft {
  return {
    parent: request.base.manifest?.version ?? 0,
    createdAt: request.now,
    reason: request.reason,
    actor: request.actor,
    inputs: request.inputs.map(({ threadId, sourceUpdatedAt }) => ({ threadId, sourceUpdatedAt })),
    removed: request.removed,
    files,
    model: request.model,
    promptVersion: request.promptVersion,
    tokenUsage: request.tokenUsage,
    ...(request.way === undefined ? {} : { way: request.way }),
    ...(request.turns === undefined ? {} : { turns: request.turns }),
    ...provenanceOf(request, files),
    notesConsumed: request.notesConsumed.filter((path) => Object.hasOwn(files, path)),
  };
}

async function commitDraft(
  stores: PublishStores,
  request: PublishRequest,
  draft: Draft,
  staged: Staged,
): Promise<PublishResult> {
  const filesWritten = staged.files.map((file) => file.path);
  const counts = { filesWritten, filesUnchanged: Object.keys(draft.files).length - filesWritten.length };
  let current = draft;
  for (let round = 0; ; round++) {
    const manifest = await storeManifest(stores.memories, request.userKey, current);
    staged.manifests.push(manifest);
    const switched = await switchHead(stores, request, manifest, staged);
    const published = { kind: 'published', version: manifest.version, parent: manifest.parent, ...counts } as const;
    const head = switched === 'switched' ? undefined : await stores.heads.read(request.userKey);
    // The second: our own switch, whose answer was lost; others may have built on it since.
    if (head === undefined || (await isBuiltOn(stores.memories, request, head, manifest.version))) {
      await hideLeft(stores, request, manifest);
      return published;
    }
    staged.asked = false; // told, or seen, that it was not made
    if (head.epoch !== request.base.epoch) return { kind: 'lost', reason: 'epoch' };
    if (request.fence !== null && head.fence !== request.fence) return { kind: 'lost', reason: 'fence' };
    const stops = request.overMoved === 'stop' && head.version !== draft.parent;
    if (stops || round >= MAX_REBASES) return { kind: 'moved', version: head.version };

    const rebased = await rebaseDraft(stores.memories, request, draft, head.version);
    if (rebased === undefined) return { kind: 'moved', version: head.version };
    current = rebased;
  }
}

/** Whether the head is a version or was built on it: then the version was current once. Only the switch makes it so. */
async function isBuiltOn(
  memories: MemoryStore,
  request: PublishRequest,
  head: Head,
  version: number,
): Promise<boolean> {
  if (head.version <= version || head.epoch !== request.base.epoch) return head.version === version;
  const chain = await loadVersionChain(memories, request.userKey, head.version, (item) => item.parent <= version);
  return chain.at(-1)?.parent === version;
}

/** Step 4 of publishing: paths that the version no longer has. */
async function hideLeft(stores: PublishStores, request: PublishRequest, manifest: Manifest): Promise<void> {
  const left = Object.keys(request.base.manifest?.files ?? {}).filter((path) => !Object.hasOwn(manifest.files, path));
  if (left.length > 0) await stores.memories.hide(request.userKey, left);
}

async function rebaseDraft(
  memories: MemoryStore,
  request: PublishRequest,
  draft: Draft,
  headVersion: number,
): Promise<Draft | undefined> {
  const base = request.base.manifest;
  const baseVersion = base?.version ?? 0;
  if (headVersion === baseVersion) return draft;
  if (headVersion < baseVersion) return undefined;
  const chain = await loadVersionChain(memories, request.userKey, headVersion, (item) => item.parent <= baseVersion);
  if (chain.at(-1)?.parent !== baseVersion) return undefined;
  return rebaseManifest(draft, base, chain);
}

async function storeManifest(memories: MemoryStore, userKey: string, draft: Draft): Promise<Manifest> {
  for (let attempt = 0; attempt < MAX_NUMBER_TRIES; attempt++) {
    const numbers = await memories.manifestNumbers(userKey);
    const manifest = { ...draft, version: Math.max(draft.parent, numbers.at(-1) ?? 0) + 1 };
    if ((await memories.putManifest(userKey, manifest)) === 'stored') return manifest;
  }
  throw new UnavailableError('memory.publish_contended', 'no free version number found; try again', {
    details: { tries: MAX_NUMBER_TRIES },
  });
}

async function switchHead(
  stores: PublishStores,
  request: PublishRequest,
  manifest: Manifest,
  staged: Staged,
): Promise<'switched' | 'lost'> {
  const read = (path: string): Promise<Uint8Array> | Uint8Array => readStaged(stores.memories, request, manifest, path);
  const text = async (path: string): Promise<string> =>
    Object.hasOwn(manifest.files, path) ? decodeUtf8(await read(path)) : '';
  const summary = await text(SUMMARY_PATH);
  const places = listPlaces(await text(MEMORY_PATH));
  const pendingNotes: PendingNote[] = [];
  for (const path of listPendingNotes(Object.keys(manifest.files), manifest.notesConsumed))
    pendingNotes.push(previewNote(path, await read(path)));
  staged.asked = true;
  return stores.heads.switchTo(request.userKey, {
    from: manifest.parent,
    epoch: request.base.epoch,
    fence: request.fence,
    to: { version: manifest.version, publishedAt: request.now, summary, pendingNotes, places },
  });
}

/** Content of a path of the version to publish: ours where the entry is ours, else (after a rebase) the store's. */
async function readStaged(
  memories: MemoryStore,
  request: PublishRequest,
  manifest: Manifest,
  path: string,
): Promise<Uint8Array> {
  const entry = manifest.files[path];
  const own = request.files.get(path);
  if (own !== undefined && (entry === undefined || entry.sha256 === sha256Hex(own))) return own;
  return entry === undefined ? new Uint8Array() : memories.readFile(request.userKey, path, entry);
}
