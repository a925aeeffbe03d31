import type { FileEntry } from '../consolidation/manifest.ts';
import { loadVersionChain } from '../consolidation/version-chain.ts';
import { DefectError } from '../errors.ts';
import { headThread } from '../memory/thread-references.ts';
import type { HeadStore } from '../ports/head-store.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import { mayBeStemOf } from '../workspace/file-stem.ts';
import { ROLLOUT_SUMMARIES_FOLDER } from '../workspace/input-files.ts';

/** What of the history goes with a thread: its own rollout summaries, or everything that the present version does not hold. */
export type HistoryCut = 'own' | 'purge';

interface Stored {
  readonly path: string;
  readonly entry: FileEntry;
}

/**
 * Removes contents of older versions for good (docs/decisions/0015-forgetting.md). `own`: the thread's rollout summaries. `purge`:
 * all that only older versions hold; these then answer `memory.version_expired`. Never what the present version names.
 * @returns how many contents went
 * @throws UnavailableError from the store; what is left goes when it is called again
 */
export async function forgetInHistory(
  ports: { readonly heads: Pick<HeadStore, 'read'>; readonly memories: MemoryStore },
  userKey: string,
  { threadId, cut }: { readonly threadId: string; readonly cut: HistoryCut },
): Promise<number> {
  const head = await ports.heads.read(userKey);
  const [current, ...older] = await loadVersionChain(ports.memories, userKey, head.version);
  const kept = new Set(Object.values(current?.files ?? {}).map((entry) => entry.versionId));
  const found = new Map<string, Stored>();
  for (const manifest of older) {
    for (const [path, entry] of Object.entries(manifest.files)) {
      const isOwn = path.startsWith(ROLLOUT_SUMMARIES_FOLDER) && mayBeStemOf(nameOf(path), threadId);
      if (!kept.has(entry.versionId) && (isOwn || cut === 'purge'))
        found.set(`${path}\n${entry.versionId}`, { path, entry });
    }
  }
  const gone: Stored[] = [];
  for (const stored of found.values())
    if (cut === 'purge' || (await isOf(ports.memories, userKey, stored, threadId))) gone.push(stored);
  if (gone.length > 0) await ports.memories.removeFiles(userKey, gone);
  return gone.length;
}

/** Another thread may have the same hash in its stem; what cannot be read is gone already. */
async function isOf(memories: MemoryStore, userKey: string, stored: Stored, threadId: string): Promise<boolean> {
  try {
    return headThread(await memories.readFile(userKey, stored.path, stored.entry)) === threadId;
  } catch (error) {
    if (error instanceof DefectError && error.code === 'memory.content_gone') return false;
    throw error;
  }
}

function nameOf(path: string): string {
  return path.slice(ROLLOUT_SUMMARIES_FOLDER.length);
}
