import { NO_USAGE } from '../agent/token-usage.ts';
import { publishVersion } from '../consolidation/publish.ts';
import { UnavailableError } from '../errors.ts';
import { type OpenedVersion, openVersion } from '../memory/memory-files.ts';
import { withoutForgotten } from '../memory/without-forgotten.ts';
import type { HeadStore } from '../ports/head-store.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import { mayBeStemOf } from '../workspace/file-stem.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import { ROLLOUT_SUMMARIES_FOLDER } from '../workspace/input-files.ts';

const MAX_TRIES = 8;
const READS_AT_ONCE = 16;
const TELLING = /^(MEMORY\.md|memory_summary\.md|raw_memories\.md|skills\/.+|extensions\/[^/]+\/resources\/.+)$/;

export interface ForgetInVersionPorts {
  readonly heads: HeadStore;
  readonly memories: MemoryStore;
}

/**
 * Takes a thread out of the current version by a version of its own (reason `forget`), without a model: what rests on it alone
 * goes, what rests on others too stays and is marked for the next consolidation (`withoutForgotten`). Repeated over whatever
 * is published meanwhile. Reads only what may rest on the thread, not every rollout summary.
 * @returns the version made; null where nothing of the current one rests on the thread
 * @throws UnavailableError `memory.publish_contended`
 */
export async function forgetInVersion(
  ports: ForgetInVersionPorts,
  userKey: string,
  request: { readonly threadId: string; readonly now: number },
): Promise<number | null> {
  const { threadId, now } = request;
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const base = await openVersion(ports, userKey);
    const before = await readTelling(base, threadId);
    const after = withoutForgotten(before, new Set([threadId]));
    if (after === before) return null;
    const inputs = base.manifest?.inputs ?? [];
    const result = await publishVersion(ports, {
      userKey,
      base: { manifest: base.manifest ?? undefined, epoch: base.head.epoch },
      fence: null,
      reason: 'forget',
      actor: 'user',
      files: new Map([...after].filter(([path, content]) => before.get(path) !== content)),
      kept: base.paths.filter((path) => !before.has(path) || after.has(path)),
      inputs: inputs.filter((input) => input.threadId !== threadId),
      removed: inputs.some((input) => input.threadId === threadId) ? [threadId] : [],
      notesConsumed: base.manifest?.notesConsumed ?? [],
      model: null,
      promptVersion: null,
      tokenUsage: NO_USAGE,
      now,
      overMoved: 'stop', // what came between may rest on the thread as well
    });
    if (result.kind === 'published') return result.version;
  }
  throw new UnavailableError('memory.publish_contended', 'the memory is changing too fast; forget the thread again', {
    details: { tries: MAX_TRIES },
  });
}

/** The files that may rest on the thread, a few at a time. */
async function readTelling(version: OpenedVersion, threadId: string): Promise<FileTree> {
  const paths = version.paths.filter((path) =>
    path.startsWith(ROLLOUT_SUMMARIES_FOLDER)
      ? mayBeStemOf(path.slice(ROLLOUT_SUMMARIES_FOLDER.length), threadId)
      : TELLING.test(path),
  );
  const tree = new Map<string, Uint8Array>();
  for (let at = 0; at < paths.length; at += READS_AT_ONCE) {
    const batch = paths.slice(at, at + READS_AT_ONCE);
    const contents = await Promise.all(batch.map((path) => version.read(path)));
    for (const [index, path] of batch.entries()) tree.set(path, contents[index] ?? new Uint8Array());
  }
  return tree;
}
