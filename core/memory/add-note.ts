import { NO_USAGE } from '../agent/token-usage.ts';
import { listPendingNotes, NOTES_FOLDER } from '../consolidation/pending-notes.ts';
import { publishVersion } from '../consolidation/publish.ts';
import { ConflictError, InvalidInputError, UnavailableError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { HeadStore } from '../ports/head-store.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import type { TemplateStore } from '../ports/template-store.ts';
import { redact } from '../rollout/redact.ts';
import { encodeUtf8 } from '../text.ts';
import { invalidPath } from '../workspace/workspace-path.ts';
import { type OpenedVersion, openVersion } from './memory-files.ts';
import { checkNoteName, checkNoteText, makeNoteName } from './note-name.ts';

/** How the consolidation agent is to read notes (behaviours K-01, K-02). */
export const INSTRUCTIONS_PATH = 'extensions/ad_hoc/instructions.md';
const MAX_TRIES = 8;

export interface AddNoteDeps {
  readonly heads: HeadStore;
  readonly memories: MemoryStore;
  readonly jobs: Pick<JobStore, 'enqueueConsolidation'>;
  readonly templates: Pick<TemplateStore, 'get'>;
  readonly clock: Clock;
}

export interface NoteRequest {
  /** Made from time and text when absent. */
  readonly filename?: string | null | undefined;
  readonly note: string;
  /** Who wrote it, for the manifest: `user` (default), `cli`, `mcp`. */
  readonly actor?: string | undefined;
}

/** As the wire shows it. */
export interface NoteAnswer {
  readonly path: string;
  readonly pending: true;
}

/**
 * Adds a note as a small version (behaviours N-21..N-23; storage.md): verbatim but for secrets, visible at the very next read,
 * taken in by the next consolidation, which it makes due. Where the head moves meanwhile, it is published on the new one.
 * @throws InvalidInputError as `checkNoteName` and `checkNoteText`; `note.secret_in_name`; `path.invalid` where a file stands
 *   in place of the notes' folder
 * @throws ConflictError `note.exists`
 * @throws UnavailableError `memory.publish_contended`
 */
export async function addNote(deps: AddNoteDeps, userKey: string, request: NoteRequest): Promise<NoteAnswer> {
  const filename = request.filename ?? null;
  if (filename !== null) checkNoteName(filename);
  checkNoteText(request.note);
  if (filename !== null && redact(filename) !== filename) {
    throw new InvalidInputError('note.secret_in_name', 'filename must not hold a secret', {
      details: { field: 'filename' },
    });
  }
  const text = redact(request.note);
  const now = deps.clock.now();
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const base = await openVersion(deps, userKey);
    if (filename !== null) await makeDueAgain(deps, userKey, base, { path: `${NOTES_FOLDER}${filename}`, now });
    const path = filename === null ? freePath(base, text, now) : requireFree(base, `${NOTES_FOLDER}${filename}`);
    const files = new Map([[path, encodeUtf8(text)]]);
    if (!base.paths.includes(INSTRUCTIONS_PATH)) {
      files.set(INSTRUCTIONS_PATH, encodeUtf8((await deps.templates.get('ad_hoc_instructions')).text));
    }
    const result = await publishVersion(deps, {
      userKey,
      base: { manifest: base.manifest ?? undefined, epoch: base.head.epoch },
      fence: null,
      reason: 'note',
      actor: request.actor ?? 'user',
      files,
      kept: base.paths,
      inputs: base.manifest?.inputs ?? [],
      removed: [],
      notesConsumed: base.manifest?.notesConsumed ?? [],
      model: null,
      promptVersion: null,
      tokenUsage: NO_USAGE,
      now,
    });
    if (result.kind === 'published') {
      await deps.jobs.enqueueConsolidation(userKey, now);
      return { path, pending: true };
    }
  }
  throw new UnavailableError('memory.publish_contended', 'the memory is changing too fast; send the note again', {
    details: { tries: MAX_TRIES },
  });
}

/**
 * A note of this name that still waits may be this very one, whose request died between its version and its mark: whoever sends it
 * again makes sure that it is taken in. Once more does no harm.
 */
async function makeDueAgain(
  deps: AddNoteDeps,
  userKey: string,
  base: OpenedVersion,
  { path, now }: { readonly path: string; readonly now: number },
): Promise<void> {
  if (!listPendingNotes(base.paths, base.manifest?.notesConsumed ?? []).includes(path)) return;
  await deps.jobs.enqueueConsolidation(userKey, now);
}

/** A made name never meets an existing one: the next number is taken. */
function freePath(base: OpenedVersion, note: string, now: number): string {
  for (let number = 1; ; number++) {
    const path = `${NOTES_FOLDER}${makeNoteName(note, now, number)}`;
    if (!base.paths.includes(path)) return requireFree(base, path);
  }
}

function requireFree(base: OpenedVersion, path: string): string {
  const steps = path.split('/');
  for (let count = 1; count < steps.length; count++) {
    if (base.paths.includes(steps.slice(0, count).join('/'))) throw invalidPath();
  }
  if (base.paths.some((other) => other === path || other.startsWith(`${path}/`))) {
    throw new ConflictError('note.exists', 'a note of this filename exists; notes are never overwritten', {
      details: { field: 'filename' },
    });
  }
  return path;
}
