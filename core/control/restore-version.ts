import { NO_USAGE } from '../agent/token-usage.ts';
import { listPendingNotes } from '../consolidation/pending-notes.ts';
import { type PublishResult, publishVersion } from '../consolidation/publish.ts';
import { NotFoundError, UnavailableError } from '../errors.ts';
import { type OpenedVersion, openVersion } from '../memory/memory-files.ts';
import { findForgotten, type PinPorts } from '../memory/pinned-version.ts';
import type { HeadStore } from '../ports/head-store.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import { openFormer } from './open-former.ts';

const MAX_TRIES = 5;
const READS_AT_ONCE = 32;

export interface RestorePorts extends PinPorts {
  readonly heads: HeadStore;
  readonly memories: MemoryStore;
  readonly jobs: Pick<JobStore, 'enqueueConsolidation'>;
}

/** As the wire shows it. */
export interface Restored {
  /** The version made; the present one where nothing was to be restored. */
  readonly version: number;
  readonly restored: number;
  /** False: the memory is like that already, so that no version was made. */
  readonly changed: boolean;
}

/**
 * Makes an older version the present one again, as a new version of the same files (storage.md, "Restore";
 * docs/decisions/0018-restore.md). Contents that differ from the present ones are stored anew, since those of older versions
 * expire. Nothing is removed from the history: the version that was left can be restored in turn. A thread that was forgotten
 * since stays forgotten. Notes that the older version had not taken in yet wait again, so a consolidation is made due; else none
 * is, and the next one, whenever it comes, builds on what was restored. A run that is at work begins again from it.
 * @throws NotFoundError `memory.version_not_found`, `memory.version_expired`
 * @throws UnavailableError `restore.contended`
 */
export async function restoreVersion(
  ports: RestorePorts,
  userKey: string,
  request: { readonly version: number; readonly actor: string },
): Promise<Restored> {
  const { version: wanted } = request;
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const current = await openVersion(ports, userKey);
    if (wanted === current.version && wanted > 0) return { version: wanted, restored: wanted, changed: false };
    const former = await openFormer(ports, userKey, wanted);
    if (former.manifest === null)
      throw new NotFoundError('memory.version_not_found', 'version 0 is the empty memory and cannot be restored');
    const result = await publishRestored(ports, userKey, { current, former, actor: request.actor });
    if (result.kind === 'published') {
      // A thread that was forgotten in between is not in the present version again for longer than it takes to restore anew.
      if ((await findForgotten(ports, userKey, former)).length > 0) continue;
      return { version: result.version, restored: wanted, changed: true };
    }
    if (result.kind === 'unchanged') return { version: result.version, restored: wanted, changed: false };
  }
  throw new UnavailableError('restore.contended', 'the memory changed too often while it was restored; try again', {
    details: { tries: MAX_TRIES },
  });
}

async function publishRestored(
  ports: RestorePorts,
  userKey: string,
  of: { readonly current: OpenedVersion; readonly former: OpenedVersion; readonly actor: string },
): Promise<PublishResult> {
  const { current, former, actor } = of;
  const now = ports.clock.now();
  const inputs = former.manifest?.inputs ?? [];
  const notesConsumed = former.manifest?.notesConsumed ?? [];
  const kept = former.paths.filter((path) => hashOf(former, path) === hashOf(current, path));
  const files = await readFiles(former, new Set(kept));
  const waiting = listPendingNotes(former.paths, notesConsumed).length > 0;
  if (waiting) await ports.jobs.enqueueConsolidation(userKey, now);
  const known = new Set(inputs.map((input) => input.threadId));
  const result = await publishVersion(ports, {
    userKey,
    base: { manifest: current.manifest ?? undefined, epoch: current.head.epoch },
    fence: null,
    reason: 'restore',
    actor,
    files,
    kept,
    inputs,
    removed: (current.manifest?.inputs ?? []).map((input) => input.threadId).filter((id) => !known.has(id)),
    notesConsumed,
    model: null,
    promptVersion: null,
    tokenUsage: NO_USAGE,
    now,
    overMoved: 'stop',
  });
  if (waiting && result.kind === 'published') await ports.jobs.enqueueConsolidation(userKey, now);
  return result;
}

/** Of a file as it is shown: undefined where there is none. */
function hashOf({ manifest }: OpenedVersion, path: string): string | undefined {
  return manifest !== null && Object.hasOwn(manifest.files, path) ? manifest.files[path]?.sha256 : undefined;
}

/** All files but those of the present version, a few at a time. */
async function readFiles(former: OpenedVersion, kept: ReadonlySet<string>): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  const paths = former.paths.filter((path) => !kept.has(path));
  for (let at = 0; at < paths.length; at += READS_AT_ONCE) {
    const batch = paths.slice(at, at + READS_AT_ONCE);
    const contents = await Promise.all(batch.map((path) => former.read(path)));
    for (const [index, content] of contents.entries()) files.set(batch[index] ?? '', content);
  }
  return files;
}
