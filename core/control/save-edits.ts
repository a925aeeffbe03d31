import { NO_USAGE } from '../agent/token-usage.ts';
import { type PublishResult, publishVersion } from '../consolidation/publish.ts';
import { UnavailableError } from '../errors.ts';
import { sha256Hex } from '../ids.ts';
import { type OpenedVersion, openVersion } from '../memory/memory-files.ts';
import type { HeadStore } from '../ports/head-store.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import { redact } from '../rollout/redact.ts';
import { decodeUtf8Strict, encodeUtf8 } from '../text.ts';
import { mergeText } from '../workspace/merge-text.ts';
import { checkEditContent, checkEditPath, requireEditable } from './check-edit.ts';

const MAX_TRIES = 5;

export interface SaveEditsRequest {
  readonly userKey: string;
  /** The version that the person was looking at. */
  readonly baseVersion: number;
  /** New content by path; null = delete. */
  readonly edits: ReadonlyMap<string, Uint8Array | null>;
  readonly actor: string;
  readonly now: number;
}

export type SaveEditsResult =
  | { readonly kind: 'saved'; readonly version: number; readonly paths: readonly string[] }
  | { readonly kind: 'unchanged'; readonly version: number };

export interface SaveEditsPorts {
  readonly heads: HeadStore;
  readonly memories: MemoryStore;
  readonly jobs: Pick<JobStore, 'enqueueConsolidation'>;
}

/**
 * Publishes what a person changed by hand as a version of its own (reason `edit`). Where the memory moved on since
 * `baseVersion`, the change is carried over line by line; where both changed the same lines, the person's text wins and the
 * former text stays in the history. Secrets are redacted (DV-6), what is too large or no text is refused. An edited note counts as not yet consumed (behaviours K-02).
 *
 * A consolidation is made due before the version is published, so that a death in between leaves no edit that nobody takes in,
 * and once more after it, since a run may have used the first mark up just before there was anything to see.
 * @throws InvalidInputError as `checkEditPath` and `checkEditContent`, nothing is stored of any edit; NotFoundError `memory.version_not_found`; UnavailableError `edit.contended`
 */
export async function saveEdits(ports: SaveEditsPorts, request: SaveEditsRequest): Promise<SaveEditsResult> {
  const edits = checkEdits(request.edits);
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const base = await openVersion(ports, request.userKey, request.baseVersion);
    const current = await openVersion(ports, request.userKey);
    const merged = await mergeEdits(base, current, edits);
    const result = await publishEdits(ports, request, { current, files: merged });
    if (result.kind === 'unchanged') return { kind: 'unchanged', version: result.version };
    if (result.kind === 'published')
      return { kind: 'saved', version: result.version, paths: [...request.edits.keys()] };
  }
  throw new UnavailableError('edit.contended', 'the memory changed too often while the edit was saved; try again', {
    details: { tries: MAX_TRIES },
  });
}

/** What is published of edits: only the paths in `files` are read and written, all others stay the entries that they were. */
export interface EditDraft {
  readonly current: OpenedVersion;
  /** New content by path; null = delete. */
  readonly files: ReadonlyMap<string, Uint8Array | null>;
  /** As in `PublishRequest`. */
  readonly overMoved?: 'rebase' | 'stop';
}

/** Publishes edits over the version that they were merged with, the due mark before and after (see `saveEdits`). */
export async function publishEdits(
  ports: SaveEditsPorts,
  request: Pick<SaveEditsRequest, 'userKey' | 'actor' | 'now'>,
  { current, files, overMoved = 'rebase' }: EditDraft,
): Promise<PublishResult> {
  const { userKey, actor, now } = request;
  const entries = current.manifest?.files ?? {};
  const changed = [...files].filter(([path, content]) => {
    const entry = Object.hasOwn(entries, path) ? entries[path] : undefined;
    return content === null ? entry !== undefined : entry?.sha256 !== sha256Hex(content);
  });
  if (changed.length === 0) return { kind: 'unchanged', version: current.version };
  const written = [...files].flatMap(([path, content]) => (content === null ? [] : [[path, content] as const]));
  await ports.jobs.enqueueConsolidation(userKey, now);
  const result = await publishVersion(ports, {
    userKey,
    base: { manifest: current.manifest ?? undefined, epoch: current.head.epoch },
    fence: null,
    reason: 'edit',
    actor,
    files: new Map(written),
    kept: current.paths.filter((path) => !files.has(path)),
    inputs: current.manifest?.inputs ?? [],
    removed: [],
    notesConsumed: (current.manifest?.notesConsumed ?? []).filter((path) => !files.has(path)),
    model: null,
    promptVersion: null,
    tokenUsage: NO_USAGE,
    now,
    overMoved,
  });
  if (result.kind === 'published') await ports.jobs.enqueueConsolidation(userKey, now);
  return result;
}

async function mergeEdits(
  base: OpenedVersion,
  current: OpenedVersion,
  edits: SaveEditsRequest['edits'],
): Promise<ReadonlyMap<string, Uint8Array | null>> {
  const files = new Map<string, Uint8Array | null>();
  for (const [path, content] of edits) {
    const before = current.paths.includes(path) ? await current.read(path) : undefined;
    files.set(path, content === null ? null : await mergeEdit(base, before, path, content));
  }
  return files;
}

async function mergeEdit(
  base: OpenedVersion,
  currentContent: Uint8Array | undefined,
  path: string,
  content: Uint8Array,
): Promise<Uint8Array> {
  const edited = decodeUtf8Strict(content);
  if (edited === undefined) return content; // no text: nothing to merge
  const current = currentContent === undefined ? undefined : decodeUtf8Strict(currentContent);
  const former = base.paths.includes(path) ? decodeUtf8Strict(await base.read(path)) : undefined;
  const merged = current === undefined || former === undefined ? edited : mergeText(former, edited, current);
  return encodeUtf8(redact(merged ?? edited)); // what was written in two versions may be a secret only now
}

/** All of them, before anything is read or written: what cannot be stored stays where the person wrote it. */
function checkEdits(edits: SaveEditsRequest['edits']): SaveEditsRequest['edits'] {
  return new Map(
    [...edits].map(([path, content]) => {
      if (content === null) requireEditable(path);
      else checkEditPath(path);
      return [path, content === null ? null : checkEditContent(path, content)] as const;
    }),
  );
}
