import { NO_USAGE } from '../agent/token-usage.ts';
import { publishVersion } from '../consolidation/publish.ts';
import { InvalidInputError, UnavailableError } from '../errors.ts';
import { type OpenedVersion, openVersion } from '../memory/memory-files.ts';
import type { HeadStore } from '../ports/head-store.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import { redact } from '../rollout/redact.ts';
import { decodeUtf8Strict, encodeUtf8 } from '../text.ts';
import { mergeText } from '../workspace/merge-text.ts';

const MAX_TRIES = 5;

/** What a person may change by hand (api.md, `PUT|DELETE /v1/memory/files/{path}`). */
const EDITABLE = /^(MEMORY\.md|memory_summary\.md|skills\/.+|extensions\/.+)$/;

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

/** True for a path that a person may change by hand. */
export function isEditable(path: string): boolean {
  return EDITABLE.test(path);
}

/**
 * Publishes what a person changed by hand as a version of its own (reason `edit`). Where the memory moved on since
 * `baseVersion`, the change is carried over line by line; where both changed the same lines, the person's text wins and the
 * former text stays in the history. Secrets are redacted (DV-6). An edited note counts as not yet consumed (behaviours K-02).
 * @throws InvalidInputError `edit.forbidden_path`; NotFoundError `memory.version_not_found`; UnavailableError `edit.contended`
 */
export async function saveEdits(
  stores: { readonly heads: HeadStore; readonly memories: MemoryStore },
  request: SaveEditsRequest,
): Promise<SaveEditsResult> {
  for (const path of request.edits.keys()) requireEditable(path);
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const base = await openVersion(stores, request.userKey, request.baseVersion);
    const current = await openVersion(stores, request.userKey);
    const result = await publishVersion(stores, {
      userKey: request.userKey,
      base: { manifest: current.manifest ?? undefined, epoch: current.head.epoch },
      fence: null,
      reason: 'edit',
      actor: request.actor,
      files: await applyEdits(base, current, request.edits),
      inputs: current.manifest?.inputs ?? [],
      removed: [],
      notesConsumed: (current.manifest?.notesConsumed ?? []).filter((path) => !request.edits.has(path)),
      model: null,
      promptVersion: null,
      tokenUsage: NO_USAGE,
      now: request.now,
    });
    if (result.kind === 'unchanged') return { kind: 'unchanged', version: result.version };
    if (result.kind === 'published')
      return { kind: 'saved', version: result.version, paths: [...request.edits.keys()] };
  }
  throw new UnavailableError('edit.contended', 'the memory changed too often while the edit was saved; try again', {
    details: { tries: MAX_TRIES },
  });
}

async function applyEdits(
  base: OpenedVersion,
  current: OpenedVersion,
  edits: SaveEditsRequest['edits'],
): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  for (const path of current.paths) files.set(path, await current.read(path));
  for (const [path, content] of edits) {
    if (content === null) files.delete(path);
    else files.set(path, await mergeEdit(base, files.get(path), path, content));
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
  if (edited === undefined) return content; // no text: nothing to merge or redact
  const current = currentContent === undefined ? undefined : decodeUtf8Strict(currentContent);
  const former = base.paths.includes(path) ? decodeUtf8Strict(await base.read(path)) : undefined;
  const merged = current === undefined || former === undefined ? edited : mergeText(former, edited, current);
  return encodeUtf8(redact(merged ?? edited));
}

function requireEditable(path: string): void {
  if (isEditable(path)) return;
  throw new InvalidInputError(
    'edit.forbidden_path',
    'only MEMORY.md, memory_summary.md and files below skills/ and extensions/ can be edited',
    { details: { field: 'path' } },
  );
}
